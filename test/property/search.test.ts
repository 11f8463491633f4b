import { expect, test, vi } from "vitest";
import { applyChange } from "../../src/schema/apply.js";
import { type Client, client, dataOf, metaOf } from "../support/client.js";
import { member, run } from "../support/people.js";
import { apiKey, serve, type TestServer } from "../support/server.js";
import { Random } from "./support/random.js";

/**
 * Full-text search against an evaluator that takes texts apart by itself, while rows are written in every way there is:
 * through triggers, cascades, REPLACE, rolled-back batches and changes of the schema. `SEED=… QUERIES=…` repeats or
 * prolongs a run.
 */
const seed = Random.seedOfRun();
const queries = Number(process.env.QUERIES ?? 400);
vi.setConfig({ testTimeout: 900_000 + 10 * queries * 60 });

const words = ["red", "Réd", "RED", "rede", "reddish", "shoe", "Shoes", "über", "Uber", "x1", "1x", "日本", "a", "ab"];
const between = [" ", " ", " ", "-", ". ", "'", ' "', "_", "\n", " *", " AND ", ":"];

interface Row {
  readonly key: readonly (string | number)[];
  readonly owner: string | null;
  readonly shelf: number | null;
  readonly title: string | null;
  readonly body: string | null;
}

const keyColumns = { numbered: ["id"], named: ["id"], paired: ["g", "id"] } as const;
type TableName = keyof typeof keyColumns;
const tableNames = Object.keys(keyColumns) as TableName[];

const keysOf: Record<TableName, string> = {
  numbered: "columns:\n    id: { type: integer, primary_key: true }",
  named: "columns:\n    id: { type: text, primary_key: true }",
  paired: "primary_key: [g, id]\n  columns:\n    g: { type: text }\n    id: { type: integer }",
};

/** `more` is a column that comes and goes, which makes SQLite rebuild the table or not. */
const schemaOf = (more: string) => `
shelves: { columns: { id: { type: integer, primary_key: true } } }
${tableNames
  .map(
    (table) => `${table}:
  ${keysOf[table]}
    owner: { type: text }
    shelf: { type: integer, references: { table: shelves, on_delete: cascade } }
    title: { type: text }
    body: { type: text }
    ${more}
  search: [title, body]
  indexes: [{ columns: [owner] }, { columns: [shelf] }]
`,
  )
  .join("")}`;
const changes = ["", "extra: { type: text }", 'extra: { type: text, check: "length(extra) < 9" }'];

const config = (scanLimit: number) => `
[api]
scan_limit = ${scanLimit}
${tableNames.map((table) => `[rules.${table}]\nread = "row.owner = auth.id"\n`).join("")}`;

/** As `unicode61` does it with `remove_diacritics`, for the words above. */
function tokens(text: string): readonly string[] {
  return (
    text
      .normalize("NFD")
      .replace(/\p{M}/gu, "")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

interface Term {
  readonly tokens: readonly string[];
  readonly isBeginning: boolean;
}

function holds(text: string | null, { tokens: wanted, isBeginning }: Term): boolean {
  const there = tokens(text ?? "");
  const isAt = (at: number) =>
    wanted.every((token, i) => {
      const found = there[at + i];
      return i === wanted.length - 1 && isBeginning ? found?.startsWith(token) : found === token;
    });
  return wanted.length > 0 && there.some((_, at) => isAt(at));
}

/** The rank of a row among those that a search finds; null where it does not find it. */
function rankOf({ title, body }: Row, terms: readonly Term[]): number | null {
  const columns = [title, body];
  if (!terms.every((term) => columns.some((text) => holds(text, term)))) return null;
  const whole = columns.findIndex((text) => terms.every((term) => holds(text, term)));
  return whole === -1 ? columns.length : whole;
}

function randomText(random: Random): string | null {
  if (random.chance(0.1)) return null;
  return random.times(random.int(0, 5), () => random.pick(words) + random.pick(between)).join("");
}

/** What is asked, as text and taken apart. */
function randomSearch(random: Random): { readonly text: string; readonly terms: readonly Term[] } {
  const parts = random.times(random.int(1, 3), () => {
    const word = random.chance(0.2)
      ? `${random.pick(words)}-${random.pick(words)}`
      : random.chance(0.3)
        ? random.pick(words).slice(0, random.int(1, 3))
        : random.pick(words);
    return random.chance(0.2)
      ? { text: `"${word} ${random.pick(words)}"`, isPhrase: true }
      : { text: word, isPhrase: false };
  });
  return {
    text: parts.map(({ text }) => text).join(" "),
    terms: parts.map(({ text, isPhrase }, i) => ({
      tokens: tokens(text),
      isBeginning: !isPhrase && i === parts.length - 1,
    })),
  };
}

const compare = (a: Row["key"], b: Row["key"]) => {
  for (const [i, mine] of a.entries()) if (mine !== b[i]) return mine < b[i]! ? -1 : 1;
  return 0;
};

class Library {
  readonly rows: Record<TableName, Map<string, Row>> = {
    numbered: new Map(),
    named: new Map(),
    paired: new Map(),
  };
  shelves = [1, 2, 3];

  constructor(
    readonly server: TestServer,
    readonly random: Random,
  ) {}

  #row(table: TableName): Row {
    const { random } = this;
    const id = random.int(1, 40);
    const key = { numbered: [id], named: [`k${id}`], paired: [random.pick(["a", "b"]), id] }[table];
    const title = randomText(random);
    const body = randomText(random);
    return {
      key,
      owner: random.pick(["ada", "bob", null]),
      shelf: random.pick([null, ...this.shelves]),
      title,
      body,
    };
  }

  /** One write of some kind; the rows that are known follow it. */
  async write(): Promise<void> {
    const { random, server } = this;
    const table = random.pick(tableNames);
    const known = this.rows[table];
    const row = this.#row(table);
    const at = row.key.join();
    const names = keyColumns[table];
    const columns = [...names, "owner", "shelf", "title", "body"];
    const values = [...row.key, row.owner, row.shelf, row.title, row.body];
    const marks = columns.map(() => "?").join();
    const into = `INTO ${table} (${columns.join()}) VALUES (${marks})`;
    const where = names.map((name) => `${name} = ?`).join(" AND ");
    switch (random.pick(["replace", "upsert", "upsert", "update", "move", "delete", "cascade", "rollback"])) {
      case "replace":
        await run(server, `INSERT OR REPLACE ${into}`, ...values);
        known.set(at, row);
        return;
      case "upsert": {
        const set = columns.slice(names.length).map((column) => `${column} = excluded.${column}`);
        await run(server, `INSERT ${into} ON CONFLICT DO UPDATE SET ${set.join()}`, ...values);
        known.set(at, row);
        return;
      }
      case "update": {
        const before = known.get(at);
        await run(server, `UPDATE ${table} SET title = ? WHERE ${where}`, row.title, ...row.key);
        if (before !== undefined) known.set(at, { ...before, title: row.title });
        return;
      }
      case "move": {
        const [from] = random.some([...known.values()], 1);
        if (from === undefined || known.has(at)) return;
        const set = names.map((name) => `${name} = ?`).join();
        await run(server, `UPDATE ${table} SET ${set} WHERE ${where}`, ...row.key, ...from.key);
        known.delete(from.key.join());
        known.set(at, { ...from, key: row.key });
        return;
      }
      case "delete":
        await run(server, `DELETE FROM ${table} WHERE ${where}`, ...row.key);
        known.delete(at);
        return;
      case "cascade": {
        if (!random.chance(0.2)) return;
        const shelf = random.pick(this.shelves);
        await run(server, "DELETE FROM shelves WHERE id = ?", shelf);
        await run(server, "INSERT INTO shelves VALUES (?)", shelf);
        for (const each of Object.values(this.rows))
          for (const [key, row] of each) if (row.shelf === shelf) each.delete(key);
        return;
      }
      case "rollback": {
        const statements = [
          { sql: `INSERT OR REPLACE ${into}`, params: values },
          { sql: `DELETE FROM ${table}`, params: [] },
          { sql: "INSERT INTO nowhere VALUES (1)", params: [] },
        ];
        await expect(server.database.batch(statements)).rejects.toThrow();
        return;
      }
    }
  }

  async check(caller: Client, isKey: boolean, scanLimit: number): Promise<number> {
    const { random } = this;
    const table = random.pick(tableNames);
    const { text, terms } = randomSearch(random);
    const owner = random.chance(0.3) ? random.pick(["ada", "bob"]) : null;
    const shown = [...this.rows[table].values()].filter(
      (row) => (isKey || row.owner === "ada") && (owner === null || row.owner === owner),
    );
    const found = shown
      .flatMap((row) => {
        const rank = rankOf(row, terms);
        return rank === null ? [] : [{ rank, key: row.key }];
      })
      .sort((a, b) => a.rank - b.rank || compare(a.key, b.key))
      .map(({ key }) => key);
    const filter = owner === null ? "" : `&where[owner]=${owner}`;
    const path = `/api/${table}?search=${encodeURIComponent(text)}${filter}&limit=1000&select=${keyColumns[table].join()}`;
    const answer = await caller.get(path);
    const matching = [...this.rows[table].values()].filter((row) => rankOf(row, terms) !== null);
    // Only where neither the matches nor the rows among them are few.
    if (answer.status === 400 && matching.length > scanLimit && shown.length > scanLimit) return 0;
    const told = `SEED=${seed}: ${JSON.stringify(text)} in ${table}${filter}`;
    expect(
      dataOf<Record<string, unknown>[]>(answer).map((row) => Object.values(row)),
      told,
    ).toEqual(found);
    expect(metaOf(answer).total, told).toBe(found.length);
    return found.length;
  }
}

test.each([100_000, 12])("finds what an evaluator finds, with a scan limit of %i", async (scanLimit) => {
  const random = new Random(seed).fork(scanLimit);
  const server = await serve({ schema: schemaOf(changes[0]!), config: config(scanLimit) }, "app");
  const library = new Library(server, random);
  await run(server, "INSERT INTO shelves VALUES (1), (2), (3)");
  const ada = client(server, (await member(server, "ada")).bearer);
  const key = client(server, await apiKey(server, "project:backend"));
  for (let i = 0; i < 60; i++) await library.write();
  let found = 0;
  for (let i = 0; i < queries / 2; i++) {
    for (let writes = random.int(0, 3); writes > 0; writes--) await library.write();
    if (i % 60 === 59) {
      const options = { allowDestructive: true, now: server.clock.now() };
      const applied = await applyChange(server.database, schemaOf(random.pick(changes)), options);
      expect(applied, `SEED=${seed}`).not.toMatchObject({ outcome: "refused" });
    }
    const isKey = random.chance(0.5);
    found += (await library.check(isKey ? key : ada, isKey, scanLimit)) > 0 ? 1 : 0;
  }
  // Not everything finds nothing, or the agreement would say little.
  expect(found).toBeGreaterThan(queries * 0.1);
});
