import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { openLibsql } from "../../src/node/database/libsql.js";
import type { Database } from "../../src/platform/database.js";
import { Random } from "../property/support/random.js";
import { figure } from "../support/figures.js";
import { patiently } from "../support/patience.js";
import type { SpawnedServer } from "../support/spawned-server.js";
import { type Answered, ask, start } from "./killed-server.js";
import { judge, type Operation, type Row, rules, schema, Timeline, type Verdict } from "./pushed-mutations.js";

/**
 * A server that is killed again and again while twenty clients of several users push mutations: on rows that all of them
 * change, with bases, with mutations that can never be done, with gaps, the same twice and at once. The log of changes tells
 * in which order mutations were applied; a plain model, which applies them in that order, has to agree with the rows, with
 * the ledger, and with what each client was told. `npm run test:faults` runs fifty rounds of up to a thousand mutations.
 */
const rounds = Number(process.env.ROUNDS ?? 1);
const mutationsOfRound = 1000;
const userCount = 4;
const clientsOfUser = 5;
const seed = Random.seedOfRun();
const random = new Random(seed);
vi.setConfig({ testTimeout: 900_000 + 10 * rounds * 20_000 });

const config = `
[database]
synchronous = "full"
[auth]
allow_insecure_dev_secret = true
dev_secret = "a secret of the fault tests, 32 bytes"
access_token_ttl_secs = 3600
${rules}
`;

/** The rows that all clients change. */
const docs = ["d0", "d1", "d2", "d3", "d4", "d5"];

interface Mutation {
  readonly id: number;
  readonly operations: readonly Operation[];
}

/** What is told of a mutation, as it came. */
interface Result extends Row {
  readonly id: number;
  readonly status: "applied" | "duplicate" | "conflict" | "rejected";
}

interface Pushed {
  readonly last_id: number;
  readonly results: readonly Result[];
}

interface User {
  readonly id: string;
  readonly token: string;
}

/** How often clients have done what. */
const counts = { pushes: 0, unanswered: 0, gaps: 0, otherBodies: 0, twice: 0, again: 0 };

/** A client of a user, which numbers its mutations and pushes them. Clients of several users have the same name. */
class Client {
  readonly #random: Random;
  /** All mutations, from the first one on. */
  readonly mutations: Mutation[] = [];
  /** The first thing that was told of each mutation, without rows; an applied one that was told as a duplicate is applied. */
  readonly told: Row[] = [];
  /** What was told of rows: by the number of the mutation. */
  readonly rowsTold = new Map<number, readonly Row[]>();
  /** Rows that came with conflicts, with the number of the mutation. */
  readonly currents: { readonly id: number; readonly doc: string; readonly current: unknown }[] = [];
  /** What it takes shared rows to be. */
  readonly #docs = new Map<string, Row>();
  #notes: string[] = [];
  #steps = 0;

  constructor(
    readonly user: User,
    readonly name: string,
    seedOfClient: number,
  ) {
    this.#random = new Random(seedOfClient);
  }

  /** Unique in all of the test. */
  get #tag(): string {
    return `${this.user.id.slice(0, 8)}-${this.name}-${this.#steps++}`;
  }

  /** Adds one, whatever it holds. */
  add(operations: readonly Operation[]): void {
    this.mutations.push({ id: this.mutations.length + 1, operations });
  }

  /** Pushes until the server is killed. Throws where an answer is not what it has to be. */
  async work(url: string, isKilled: () => boolean): Promise<void> {
    while (!isKilled()) {
      const isAnswered = await this.#step(url);
      if (!isAnswered && !isKilled()) throw new Error(`${this.name}: a push gets no answer`);
      if (!isAnswered) counts.unanswered++;
    }
  }

  /** Pushes what is left, until something was told of all of it. */
  async settle(url: string): Promise<void> {
    while (this.told.length < this.mutations.length)
      if (!(await this.#push(url, this.told.length, 100))) throw new Error(`${this.name}: a push gets no answer`);
  }

  /** Whether there was an answer. */
  async #step(url: string): Promise<boolean> {
    const random = this.#random;
    const count = random.chance(0.02) ? random.int(20, 40) : random.int(1, 4);
    while (this.mutations.length < this.told.length + count) this.add(this.#choose());
    const turn = random.next();
    const { length } = this.told;
    // The server may be further than this client was told, where an answer was lost: then there is no gap.
    if (turn < 0.05) return this.#leaveGap(url, length);
    if (turn < 0.08 && length > 0) return this.#changeBody(url, length);
    if (turn < 0.15) return this.#pushTwice(url, length, count);
    if (turn < 0.3 && length > 0) {
      counts.again++;
      const again = random.int(1, Math.min(5, length));
      return this.#push(url, length - again, count + again);
    }
    return this.#push(url, length, count);
  }

  async #push(url: string, from: number, count: number): Promise<boolean> {
    const answer = await this.#ask(url, this.mutations.slice(from, from + count));
    if (answer !== null) this.#note(answer, from);
    return answer !== null;
  }

  /** As a client does that takes an answer for lost too soon. */
  async #pushTwice(url: string, from: number, count: number): Promise<boolean> {
    counts.twice++;
    const sent = this.mutations.slice(from, from + count);
    const answers = await Promise.all([this.#ask(url, sent), this.#ask(url, sent)]);
    for (const answer of answers) if (answer !== null) this.#note(answer, from);
    return answers.every((answer) => answer !== null);
  }

  /** An id is left out, before all that are sent or in between: nothing is done, and the answer tells which one. */
  async #leaveGap(url: string, length: number): Promise<boolean> {
    counts.gaps++;
    const next = this.mutations[length]!;
    const later = { ...next, id: length + 2 };
    const isBefore = this.#random.chance(0.5);
    const answer = await this.#ask(url, isBefore ? [later] : [next, { ...later, id: length + 3 }]);
    if (answer === null) return false;
    expect(answer.status).toBe(409);
    expect(answer.error).toMatchObject({ code: "conflict", expected: length + (isBefore ? 1 : 2) });
    return true;
  }

  /** An id that was sent before comes with other operations: nothing is done, of those after it neither. */
  async #changeBody(url: string, length: number): Promise<boolean> {
    counts.otherBodies++;
    const before = this.mutations[length - 1]!;
    const other: Operation = { op: "create", table: "docs", values: { id: this.#tag, title: "other", n: 1 } };
    const answer = await this.#ask(url, [{ ...before, operations: [other] }, this.mutations[length]!]);
    if (answer === null) return false;
    expect(answer.status).toBe(422);
    return true;
  }

  async #ask(url: string, mutations: readonly Mutation[]): Promise<Answered | null> {
    counts.pushes++;
    const body = { client: this.name, mutations };
    return ask(url, { method: "POST", path: "/api/_svc/push", body, token: this.user.token });
  }

  /** Takes down what an answer says, and compares it with what was said before. */
  #note({ status, data, error }: Answered, from: number): void {
    expect(status, JSON.stringify(error)).toBe(200);
    const { last_id, results } = data as Pushed;
    expect(results.length).toBeGreaterThan(0);
    expect(results.map(({ id }) => id)).toEqual(results.map((_, i) => from + i + 1));
    expect(last_id).toBeGreaterThanOrEqual(results.at(-1)!.id);
    for (const { id, rows, current, ...result } of results) {
      const told = this.told[id - 1];
      const isApplied = result.status === "applied" || result.status === "duplicate";
      const now: Row = isApplied ? { status: "applied" } : result;
      if (result.status === "applied") {
        expect(this.rowsTold.has(id), `${this.name} ${id} is applied twice`).toBe(false);
        this.rowsTold.set(id, rows as Row[]);
        this.#learn(rows as Row[]);
      }
      if (told === undefined) this.told[id - 1] = now;
      else expect(now, `${this.name} ${id}`).toEqual(told);
      if (result.status !== "conflict") continue;
      const at = this.mutations[id - 1]!.operations[result.operation as number] as { key: { id: string } };
      this.currents.push({ id, doc: at.key.id, current });
      if (current !== undefined) this.#learn([current as Row]);
    }
  }

  #learn(rows: readonly Row[]): void {
    for (const row of rows) if ("title" in row) this.#docs.set(row.id as string, row);
  }

  #choose(): readonly Operation[] {
    const random = this.#random;
    const operations: Operation[] = [this.#createNote()];
    if (random.chance(0.3)) operations.push(this.#refer());
    if (random.chance(0.8)) operations.push(this.#changeDoc());
    if (random.chance(0.3)) operations.push(this.#changeNote());
    if (random.chance(0.2)) operations.push(this.#poison());
    return operations;
  }

  #createNote(): Operation {
    const id = this.#tag;
    this.#notes.push(id);
    return { op: "create", table: "notes", values: { id, owner: this.user.id, text: id } };
  }

  /** To the note that its mutation begins with. */
  #refer(): Operation {
    const id = this.#tag;
    const values = { id, owner: { $ref: "0.owner" }, text: id, parent: { $ref: "0.id" } };
    return { op: "create", table: "notes", values };
  }

  #changeDoc(): Operation {
    const random = this.#random;
    const key = { id: random.pick(docs) };
    const known = this.#docs.get(key.id);
    const turn = random.next();
    const title = this.#tag;
    if (turn < 0.06) return { op: "create", table: "docs", values: { ...key, title, n: 0 } };
    const base = known && random.pick([null, { title: known.title }, { n: known.n, title: known.title }]);
    if (turn < 0.09) return { op: "delete", table: "docs", key, ...(base && { base }) };
    const set = { title, n: random.int(0, 9) };
    return { op: "update", table: "docs", key, set, ...(base && { base }) };
  }

  /** One of its own, which is not there where the mutation that created it was refused. */
  #changeNote(): Operation {
    const id = this.#random.pick(this.#notes);
    if (this.#random.chance(0.6)) return { op: "update", table: "notes", key: { id }, set: { text: this.#tag } };
    this.#notes = this.#notes.filter((note) => note !== id);
    return { op: "delete", table: "notes", key: { id } };
  }

  #poison(): Operation {
    const tag = this.#tag;
    const doc = { id: this.#random.pick(docs) };
    return this.#random.pick<Operation>([
      { op: "update", table: "docs", key: doc, set: { title: tag, n: -1 } },
      { op: "create", table: "docs", values: { id: tag, title: tag, n: -1 } },
      { op: "create", table: "nowhere", values: { id: tag } },
      { op: "create", table: "sealed", values: { id: 1 } },
      { op: "create", table: "notes", values: { id: tag, owner: "somebody else", text: tag } },
      { op: "update", table: "notes", key: { id: "of nobody" }, set: { text: tag } },
    ]);
  }
}

/** Lets all push until something was told of some more mutations, and kills the server in the middle of it. */
async function killAtWork(server: SpawnedServer, clients: readonly Client[]): Promise<void> {
  let killed = false;
  const told = () => clients.reduce((sum, client) => sum + client.told.length, 0);
  const enough = told() + random.int(mutationsOfRound / 2, mutationsOfRound);
  const work = Promise.all(clients.map((client) => client.work(server.url, () => killed)));
  await Promise.race([work, vi.waitUntil(() => told() >= enough, patiently)]);
  killed = true;
  await server.end("SIGKILL");
  await work;
}

async function register(url: string, name: string): Promise<User> {
  const body = { email: `${name}@example.com`, password: "correct horse battery staple" };
  const answer = await ask(url, { method: "POST", path: "/auth/register", body });
  expect(answer?.status).toBe(201);
  const { user, access_token } = answer!.data as { user: { id: string }; access_token: string };
  return { id: user.id, token: access_token };
}

/** Compares rows, the ledger and what each client was told with a model that applies mutations in the order of the log. */
async function check(database: Database, clients: readonly Client[]): Promise<void> {
  const rowsOf = async (sql: string) => (await database.query([{ sql, params: [] }]))[0]!.rows;
  const nameOf = ({ user, name }: Client) => `user:${user.id}\n${name}`;
  const byName = new Map(clients.map((client) => [nameOf(client), client]));
  const timeline = new Timeline();
  /** Of each client, the transactions of its mutations by their ids. */
  const transactionOf = new Map(clients.map((client) => [client, new Map<number, number>()]));

  const transactions = await rowsOf(
    "SELECT principal_id, client, mutation, (SELECT count(*) FROM _changes WHERE tx = _transactions.id) AS changes FROM _transactions ORDER BY id",
  );
  for (const [user, name, id, changes] of transactions as [string, string, number, number][]) {
    const client = byName.get(`user:${user}\n${name}`)!;
    const what = `${name} of ${user}, ${id}`;
    const { operations } = client.mutations[id - 1]!;
    const { verdict, written } = judge(operations, user, timeline.at(timeline.length));
    expect(verdict.status, `${what} was applied`).toBe("applied");
    expect(changes, what).toBe(operations.length);
    if (client.rowsTold.has(id))
      expect(client.rowsTold.get(id), what).toEqual((verdict as Verdict & { rows: unknown }).rows);
    timeline.add(written);
    const own = transactionOf.get(client)!;
    expect(own.has(id), `${what} was applied twice`).toBe(false);
    expect([...own.keys()].at(-1) ?? 0, what).toBeLessThan(id);
    own.set(id, timeline.length);
  }

  for (const table of ["docs", "notes"] as const) {
    const [columns] = await database.query([{ sql: `SELECT * FROM ${table} ORDER BY id`, params: [] }]);
    const names = table === "docs" ? ["id", "title", "n"] : ["id", "owner", "text", "parent"];
    const rows = columns!.rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));
    expect(rows).toEqual(timeline.rows(table));
  }

  const clientsKnown = await rowsOf("SELECT client, last_id FROM _push_clients ORDER BY client");
  expect(clientsKnown).toEqual(clients.map((client) => [nameOf(client), client.told.length] as const).sort());
  const ledger = await rowsOf("SELECT client, mutation, result FROM _push_results ORDER BY client, mutation");
  const known = (ledger as [string, number, string][]).map(
    ([client, id, result]) => [client, id, JSON.parse(result)] as const,
  );
  const expected = [...byName]
    .sort()
    .flatMap(([name, { told }]) => told.map((result, i) => [name, i + 1, result] as const).slice(-resultsKept));
  expect(known).toEqual(expected);

  for (const client of clients) checkRefusals(client, transactionOf.get(client)!, timeline);
  expect(await rowsOf("SELECT count(*) FROM _staged")).toEqual([[0]]);
}

/** How many results of a client the server keeps (docs/sync.md#push). */
const resultsKept = 1000;

/** What was refused has no transaction, and was to be refused at some moment between those of its client that have one. */
function checkRefusals(
  { name, user, mutations, told, currents }: Client,
  transactionOf: ReadonlyMap<number, number>,
  timeline: Timeline,
): void {
  const from: number[] = [];
  const to: number[] = [];
  for (let i = 0, last = 0; i < told.length; i++) {
    from[i] = last;
    last = transactionOf.get(i + 1) ?? last;
  }
  for (let i = told.length - 1, next = timeline.length + 1; i >= 0; i--) {
    to[i] = next;
    next = transactionOf.get(i + 1) ?? next;
  }
  told.forEach((result, i) => {
    const what = `${name} of ${user.id}, ${i + 1}: ${JSON.stringify(result)}`;
    expect(transactionOf.has(i + 1), what).toBe(result.status === "applied");
    if (result.status === "applied") return;
    const { operations } = mutations[i]!;
    const moments = Array.from({ length: to[i]! - from[i]! }, (_, n) => from[i]! + n);
    const isJustified = moments.some((moment) =>
      isTold(judge(operations, user.id, timeline.at(moment)).verdict, result),
    );
    expect(isJustified, what).toBe(true);
  });
  for (const { id, doc, current } of currents) {
    const states = timeline.since(from[id - 1]!, "docs", doc);
    const shown = JSON.stringify(current);
    expect(
      states.some((row) => JSON.stringify(row ?? undefined) === shown),
      `${name} of ${user.id}, ${id}: ${shown}`,
    ).toBe(true);
  }
}

function isTold(verdict: Verdict, { status, operation, error, fields }: Row): boolean {
  if (verdict.status !== status || verdict.status === "applied") return false;
  if (verdict.operation !== operation) return false;
  const { code } = error as { code: string };
  return verdict.status === "conflict"
    ? code === "conflict" && JSON.stringify(verdict.fields) === JSON.stringify(fields)
    : code === verdict.code;
}

it(`${rounds} times kill -9 while clients push: a model agrees with rows, ledger and what each was told`, async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-push-kill-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "svc.toml"), config);
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  let server = await start(directory);
  const users = await Promise.all(Array.from({ length: userCount }, (_, i) => register(server.url, `user${i}`)));
  const clients = users.flatMap((user, u) =>
    Array.from({ length: clientsOfUser }, (_, c) => new Client(user, `c${c}`, seed + 1 + u * clientsOfUser + c)),
  );
  clients[0]!.add(docs.map((id) => ({ op: "create", table: "docs", values: { id, title: "first", n: 0 } })));
  await clients[0]!.settle(server.url);
  for (let round = 0; round < rounds; round++) {
    if (round > 0) server = await start(directory);
    await killAtWork(server, clients);
    server = await start(directory);
    await Promise.all(clients.map((client) => client.settle(server.url)));
    // The comparison takes seconds, in which connections would be given up.
    expect(await server.end("SIGTERM")).toBe(0);
    const path = join(directory, ".svc/data.db");
    const database = openLibsql({ path, synchronous: "full", commandLine: true });
    await check(database, clients).finally(() => database.close());
  }

  const told = clients.flatMap((client) => client.told.map(({ status }) => status));
  const of = (status: string) => told.filter((each) => each === status).length;
  const { pushes, unanswered, gaps, otherBodies, twice, again } = counts;
  for (const some of [of("applied"), of("conflict"), of("rejected"), unanswered, gaps, twice, again])
    expect(some).toBeGreaterThan(0);
  figure(
    "strength",
    `kill -9, ${rounds} rounds, ${clients.length} clients of ${userCount} users push mutations`,
    `mutations ${told.length}: applied ${of("applied")}, conflicts ${of("conflict")}, rejected ${of("rejected")}; pushes ${pushes}, unanswered ${unanswered}, sent twice at once ${twice}, sent again ${again}, with a gap ${gaps}, with another body ${otherBodies}; rows, ledger and responses match the model; lost 0; done twice 0`,
  );
});
