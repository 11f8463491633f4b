import { expect } from "vitest";
import type { Database } from "../../src/platform/database.js";
import type { Random } from "../property/support/random.js";

/** A request, and what its answer has to be. */
export interface Write {
  readonly kind: Kind;
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the answer says of all that it is done: a push may stop early, where another one is at work. */
  readonly isWhole: (answer: Received) => boolean;
  /** Compares the answer with what it has to be, and notes what has been done. */
  readonly settle: (answer: Received, before: Before) => void;
}

/** Whether an attempt before the answered one was carried out. */
export type Before = "not done" | "done" | "perhaps done";

/** An answer that came whole. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** For databases of `Writer`. Each row has the name of the one write that has made it, or that has changed it last. */
export const schema = `
entries:
  history: forever
  columns:
    id: { type: text, primary_key: true, default: { sql: "lower(hex(randomblob(8)))" } }
    write: { type: text, not_null: true }
    n: { type: integer, check: "n >= 0" }
    version: { type: integer, not_null: true, managed: version }
lines:
  history: forever
  columns:
    id: { type: integer, primary_key: true }
    write: { type: text, not_null: true }
    entry_id: { type: text, not_null: true, references: { table: entries, on_delete: cascade } }
  indexes: [{ columns: [entry_id] }]
counters:
  history: forever
  columns:
    id: { type: text, primary_key: true }
    write: { type: text }
    version: { type: integer, not_null: true, managed: version }
`;

export const kinds = [
  "create",
  "bulk",
  "update",
  "update of a version",
  "delete",
  "upsert",
  "upsert that leaves rows",
  "batch",
  "push",
  "refused",
] as const;
export type Kind = (typeof kinds)[number];

interface Entry {
  /** Null where no answer has told it. */
  readonly id: string | null;
  n: number;
  /** Null where no answer has told it. */
  version: number | null;
}

interface Counter {
  /** The names of the writes that may have been the last one. */
  readonly lastWrites: Set<string>;
  /** How often it was written, its creation among them. */
  writes: number;
  /** The versions that answers have told: each write has made another one. */
  readonly versions: number[];
}

type Row = Readonly<Record<string, unknown>>;
type Table = "entries" | "lines" | "counters";

/** What has to be in the database, by what several writers were told. */
export class Model {
  /** By the names of the writes that have made them. */
  readonly entries = new Map<string, Entry>();
  /** By their writes: the write of the entry that they refer to. */
  readonly lines = new Map<string, string>();
  readonly counters = new Map<string, Counter>();
  /** How many changes the log has, by table and operation. */
  readonly #changes = new Map<string, number>();
  /** Of requests that were answered: how many transactions each has made. */
  readonly #transactions = new Map<string, number>();
  #transactionCount = 0;
  #answersKept = 0;
  /** By the names of clients, what has become of each of their mutations. */
  readonly pushed = new Map<string, string[]>();

  changed(table: Table, op: "insert" | "update" | "delete"): void {
    const of = `${table} ${op}`;
    this.#changes.set(of, (this.#changes.get(of) ?? 0) + 1);
  }

  /** Notes how many transactions a write has made, and which request has: the one that was answered, or one before it. */
  transacted(count: number, { body }: Received, isAnswered: boolean): void {
    const { meta } = body as { meta: { metering: { attempt_id: string } } };
    this.#transactionCount += count;
    this.#transactions.set(meta.metering.attempt_id, isAnswered ? count : 0);
  }

  answerKept(): void {
    this.#answersKept++;
  }

  counted(id: string, write: string, version: number | null): void {
    const counter = this.counters.get(id) ?? { lastWrites: new Set(), writes: 0, versions: [] };
    this.counters.set(id, counter);
    this.changed("counters", counter.writes === 0 ? "insert" : "update");
    counter.writes++;
    counter.lastWrites.add(write);
    if (version !== null) counter.versions.push(version);
  }

  deleted(write: string): void {
    this.entries.delete(write);
    this.changed("entries", "delete");
    for (const [line, entry] of this.lines)
      if (entry === write) {
        this.lines.delete(line);
        this.changed("lines", "delete");
      }
  }

  /** Compares all of this with the database. */
  async check(database: Database): Promise<void> {
    const rowsOf = async (sql: string) => (await database.query([{ sql, params: [] }]))[0]!.rows;
    const entries = await rowsOf("SELECT write, id, n, version FROM entries ORDER BY write");
    expect(entries).toEqual(
      [...this.entries]
        .sort()
        .map(([write, { id, n, version }]) => [write, id ?? expect.any(String), n, version ?? expect.any(Number)]),
    );
    expect(
      await rowsOf(
        "SELECT l.write, e.write AS entry FROM lines AS l JOIN entries AS e ON e.id = l.entry_id ORDER BY l.write",
      ),
    ).toEqual([...this.lines].sort());
    for (const [id, write, version] of await rowsOf("SELECT id, write, version FROM counters")) {
      const { lastWrites, writes, versions } = this.counters.get(id as string)!;
      expect(lastWrites).toContain(write);
      expect(new Set(versions).size, `versions of ${id}`).toBe(versions.length);
      for (const told of versions) {
        expect(told).toBeLessThanOrEqual(version as number);
        expect(told).toBeGreaterThan((version as number) - writes);
      }
    }
    expect(await rowsOf("SELECT id FROM counters ORDER BY id")).toEqual(
      [...this.counters.keys()].sort().map((id) => [id]),
    );
    const changes = await rowsOf("SELECT tbl || ' ' || op, count(*) FROM _changes GROUP BY 1 ORDER BY 1");
    expect(changes).toEqual([...this.#changes].sort());
    const transactions = await rowsOf("SELECT attempt_id, count(*) FROM _transactions GROUP BY 1");
    expect(transactions.reduce((sum, [, count]) => sum + (count as number), 0)).toBe(this.#transactionCount);
    const made = new Map(transactions as [string, number][]);
    for (const [attempt, count] of this.#transactions) expect(made.get(attempt) ?? 0, attempt).toBe(count);
    expect(await rowsOf("SELECT count(*) FROM _idempotency")).toEqual([[this.#answersKept]]);
    expect(await rowsOf("SELECT count(*) FROM _staged")).toEqual([[0]]);
    for (const [client, statuses] of this.pushed) {
      const ledger = await database.query([
        {
          sql: "SELECT last_id FROM _push_clients WHERE client LIKE '%' || char(10) || ?",
          params: [client],
        },
        {
          sql: "SELECT mutation, result ->> 'status' FROM _push_results WHERE client LIKE '%' || char(10) || ? ORDER BY mutation",
          params: [client],
        },
        { sql: "SELECT mutation FROM _transactions WHERE client = ? ORDER BY id", params: [client] },
      ]);
      const applied = statuses.flatMap((status, i) => (status === "applied" ? [[i + 1]] : []));
      expect(ledger.map(({ rows }) => rows)).toEqual([
        statuses.length === 0 ? [] : [[statuses.length]],
        statuses.map((status, i) => [i + 1, status]),
        applied,
      ]);
    }
  }
}

/** A request, and the status of its answer. */
interface Asked extends Pick<Write, "method" | "path"> {
  readonly body?: unknown;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly changesNothing?: boolean;
}

/** One of several operations, and what it does: `note` gets its row; null where that is not told. */
interface Operation {
  readonly asked: object;
  readonly note: (row: Row | null) => void;
}

const sharedCounters = ["s0", "s1"];

/** Somebody who writes one thing after the other: rows of their own, and counters that all write. */
export class Writer {
  #writes = 0;
  readonly #statuses: string[] = [];

  constructor(
    readonly name: string,
    readonly model: Model,
    readonly random: Random,
  ) {
    model.pushed.set(`client-${name}`, this.#statuses);
  }

  /** The writes that make the counters that all writers write, for one of them to send first. */
  sharedCounters(): readonly Write[] {
    return sharedCounters.map((id) => {
      const write = `${this.name}-${this.#writes++}`;
      const asked = { method: "POST", path: "/api/counters", body: { id, write }, status: 201 } as const;
      return this.#request("create", write, asked, (data) => {
        this.model.counted(id, write, (data as Row).version as number);
      });
    });
  }

  /** The next write: of that kind, or the creation of an entry where it takes one that is not there. */
  choose(kind: Kind): Write {
    const write = `${this.name}-${this.#writes++}`;
    switch (kind) {
      case "create":
        return this.#create(write);
      case "bulk":
        return this.#bulk(write);
      case "update":
        return this.#update(write);
      case "update of a version":
        return this.#updateOfVersion(write);
      case "delete":
        return this.#delete(write);
      case "upsert":
        return this.#upsert(write);
      case "upsert that leaves rows":
        return this.#upsertThatLeaves(write);
      case "batch":
        return this.#batch(write);
      case "push":
        return this.#push(write);
      case "refused":
        return this.#refused(write);
    }
  }

  /** The names of own entries whose id and version are known. */
  get #known(): string[] {
    return [...this.model.entries].flatMap(([write, { id, version }]) =>
      id !== null && version !== null && write.startsWith(`${this.name}-`) ? [write] : [],
    );
  }

  /** A request that is done once by its key. `note` gets `data` of a success. */
  #request(
    kind: Kind,
    write: string,
    { method, path, body, status, headers, changesNothing = false }: Asked,
    note: (data: unknown, answer: Received) => void,
  ): Write {
    return {
      kind,
      method,
      path,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: { ...headers, "Idempotency-Key": write },
      isWhole: () => true,
      settle: (answer, before) => {
        const { body, headers } = answer;
        expect(answer.status, JSON.stringify(body)).toBe(status);
        if (status >= 400) return;
        const isReplayed = headers["idempotency-replayed"] === "true";
        if (before !== "perhaps done") expect(isReplayed, write).toBe(before === "done");
        const { data, meta } = body as { data: unknown; meta: { rows_written: number | null } };
        if (isReplayed) expect(meta.rows_written).toBe(0);
        this.model.answerKept();
        this.model.transacted(changesNothing ? 0 : 1, answer, !isReplayed);
        note(data, answer);
      },
    };
  }

  #noteEntry(row: Row, write: string, n: number): void {
    expect(row).toEqual({ id: expect.any(String), write, n, version: expect.any(Number) });
    this.model.entries.set(write, { id: row.id as string, n, version: row.version as number });
    this.model.changed("entries", "insert");
  }

  #create(write: string): Write {
    const n = this.random.int(0, 1000);
    const asked = { method: "POST", path: "/api/entries", body: { write, n }, status: 201 } as const;
    return this.#request("create", write, asked, (data, { headers }) => {
      this.#noteEntry(data as Row, write, n);
      expect(headers.etag).toBe(`"${(data as Row).version}"`);
    });
  }

  #bulk(write: string): Write {
    const sent = this.random.times(this.random.int(1, 5), (i) => ({ write: `${write}.${i}`, n: i }));
    const asked = { method: "POST", path: "/api/entries", body: sent, status: 201 } as const;
    return this.#request("bulk", write, asked, (data) => {
      expect(data).toHaveLength(sent.length);
      sent.forEach(({ write, n }, i) => {
        this.#noteEntry((data as Row[])[i]!, write, n);
      });
    });
  }

  #update(write: string): Write {
    const id = this.random.pick(sharedCounters);
    const asked = { method: "PATCH", path: `/api/counters/${id}`, body: { write }, status: 200 } as const;
    return this.#request("update", write, asked, (data) => {
      expect(data).toEqual({ id, write, version: expect.any(Number) });
      this.model.counted(id, write, (data as Row).version as number);
    });
  }

  #updateOfVersion(write: string): Write {
    const of = this.#known.at(-1);
    if (of === undefined) return this.#create(write);
    const entry = this.model.entries.get(of)!;
    const version = entry.version! + 1;
    const n = entry.n + 1;
    const asked = {
      method: "PATCH",
      path: `/api/entries/${entry.id}`,
      body: { n },
      status: 200,
      headers: { "If-Match": `"${entry.version}"` },
    } as const;
    return this.#request("update of a version", write, asked, (data, { headers }) => {
      expect(data).toEqual({ id: entry.id, write: of, n, version });
      expect(headers.etag).toBe(`"${version}"`);
      Object.assign(entry, { n, version });
      this.model.changed("entries", "update");
    });
  }

  #delete(write: string): Write {
    if (this.#known.length === 0) return this.#create(write);
    const of = this.random.pick(this.#known);
    const { id } = this.model.entries.get(of)!;
    const asked = { method: "DELETE", path: `/api/entries/${id}`, status: 200 } as const;
    return this.#request("delete", write, asked, (data) => {
      expect(data).toEqual({ id });
      this.model.deleted(of);
    });
  }

  #upsert(write: string): Write {
    const ids = this.random.some([...sharedCounters, `${this.name}-new-${write}`, `${this.name}-own`], 2);
    const path = "/api/counters?on_conflict=id&on_duplicate=update";
    const body = ids.map((id) => ({ id, write }));
    const status = ids.every((id) => !this.model.counters.has(id)) ? 201 : 200;
    return this.#request("upsert", write, { method: "POST", path, body, status }, (data) => {
      expect(data).toEqual(ids.map((id) => ({ id, write, version: expect.any(Number) })));
      ids.forEach((id, i) => {
        this.model.counted(id, write, (data as Row[])[i]!.version as number);
      });
    });
  }

  #upsertThatLeaves(write: string): Write {
    const id = this.random.chance(0.5) ? this.random.pick(sharedCounters) : `${this.name}-kept-${write}`;
    const path = "/api/counters?on_conflict=id&on_duplicate=ignore";
    const isNew = !this.model.counters.has(id);
    const asked = {
      method: "POST",
      path,
      body: { id, write },
      status: isNew ? 201 : 200,
      changesNothing: !isNew,
    } as const;
    return this.#request("upsert that leaves rows", write, asked, (data) => {
      expect(data).toMatchObject({ id });
      if (isNew) this.model.counted(id, write, (data as Row).version as number);
    });
  }

  /** An entry, a line that refers to it, a shared counter, and perhaps the end of another entry. */
  #operations(write: string): readonly Operation[] {
    const { model, random } = this;
    const n = random.int(0, 1000);
    const counter = random.pick(sharedCounters);
    const known = this.#known;
    const operations: Operation[] = [
      {
        asked: { op: "create", table: "entries", values: { write, n } },
        note: (row) => {
          if (row !== null) return this.#noteEntry(row, write, n);
          model.entries.set(write, { id: null, n, version: null });
          model.changed("entries", "insert");
        },
      },
      {
        asked: { op: "create", table: "lines", values: { write, entry_id: { $ref: "0.id" } } },
        note: (row) => {
          if (row !== null) expect(row.entry_id).toBe(model.entries.get(write)!.id);
          model.lines.set(write, write);
          model.changed("lines", "insert");
        },
      },
      {
        asked: { op: "update", table: "counters", key: { id: counter }, set: { write } },
        note: (row) => model.counted(counter, write, row === null ? null : (row.version as number)),
      },
    ];
    if (known.length === 0 || random.chance(0.5)) return operations;
    const ended = random.pick(known);
    const key = { id: model.entries.get(ended)!.id };
    const end = { asked: { op: "delete", table: "entries", key }, note: () => model.deleted(ended) };
    return [...operations, end];
  }

  #batch(write: string): Write {
    const operations = this.#operations(write);
    const body = { operations: operations.map(({ asked }) => asked) };
    const asked = { method: "POST", path: "/api/_svc/batch", body, status: 200 } as const;
    return this.#request("batch", write, asked, (data) => {
      operations.forEach(({ note }, i) => {
        note((data as Row[])[i]!);
      });
    });
  }

  /** Three mutations: one that is applied, with others that are refused. */
  #push(write: string): Write {
    const first = this.#statuses.length + 1;
    const applied = this.#operations(write);
    const conflicting = [
      {
        op: "update",
        table: "counters",
        key: { id: sharedCounters[0] },
        set: { write },
        base: { write: "no write" },
      },
    ];
    const rejected = [
      { op: "create", table: "entries", values: { write: `${write}!`, n: 1 } },
      { op: "create", table: "entries", values: { write: `${write}!`, n: -1 } },
    ];
    const mutations = this.random.shuffled([
      { status: "applied", operations: applied.map(({ asked }) => asked) },
      { status: "conflict", operations: conflicting },
      { status: "rejected", operations: rejected },
    ]);
    const sent = mutations.map(({ operations }, i) => ({ id: first + i, operations }));
    return {
      kind: "push",
      method: "POST",
      path: "/api/_svc/push",
      body: JSON.stringify({ client: `client-${this.name}`, mutations: sent }),
      headers: {},
      isWhole: ({ body }) => {
        const { data } = body as { data?: { results: Row[] } };
        return data === undefined || data.results.length === sent.length;
      },
      settle: (answer, before) => {
        const { status, body } = answer;
        expect(status, JSON.stringify(body)).toBe(200);
        const { data } = body as { data: { last_id: number; results: Row[] } };
        expect(data.last_id).toBe(first + 2);
        expect(data.results.map(({ id }) => id)).toEqual(sent.map(({ id }) => id));
        mutations.forEach(({ status }, i) => {
          const result = data.results[i]!;
          const isNow = result.status === "applied";
          if (status !== "applied") {
            expect(result.status).toBe(status);
            return;
          }
          if (!isNow) expect(result).toEqual({ id: first + i, status: "duplicate" });
          if (before !== "perhaps done") expect(isNow, write).toBe(before === "not done");
          this.model.transacted(1, answer, isNow);
          applied.forEach(({ note }, operation) => {
            note(isNow ? (result.rows as Row[])[operation]! : null);
          });
        });
        this.#statuses.push(...mutations.map(({ status }) => status));
      },
    };
  }

  /** What is refused each time that it is sent, and never done. */
  #refused(write: string): Write {
    const nothing = () => {};
    const of = this.#known.at(-1);
    if (of === undefined || this.random.chance(0.5)) {
      const body = [
        { write, n: 1 },
        { write, n: -1 },
      ];
      const asked = { method: "POST", path: "/api/entries", body, status: 400 } as const;
      return this.#request("refused", write, asked, nothing);
    }
    const { id, version } = this.model.entries.get(of)!;
    const asked = {
      method: "PATCH",
      path: `/api/entries/${id}`,
      body: { n: 0 },
      status: 412,
      headers: { "If-Match": `"${version! + 1}"` },
    } as const;
    return this.#request("refused", write, asked, nothing);
  }
}
