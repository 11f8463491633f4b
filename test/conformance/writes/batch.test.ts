import { describe, expect, test } from "vitest";
import { ConstraintError, type Database, type Statement } from "../../../src/platform/database.js";
import { type Answer, type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { member, rowsOf } from "../../support/people.js";
import { apiKey, serve, type TestProject, type TestServer } from "../../support/server.js";

const schema = `
$history: forever
teams:
  columns:
    id: { type: text, primary_key: true, default: { sql: "lower(hex(randomblob(8)))" } }
    name: { type: text, not_null: true, unique: true }
    secret: { type: text, default: classified }
    hidden: { type: boolean }
members:
  primary_key: [team_id, user_id]
  columns:
    team_id: { type: text, references: { table: teams, on_delete: cascade } }
    user_id: { type: text }
    role: { type: text, not_null: true, default: member }
    note: { type: json }
counters: { columns: { id: { type: integer, primary_key: true }, n: { type: integer, check: "n >= 0" } } }
`;
const config = `
[rules.teams]
read = "row.hidden is null"
create = "authenticated"
update = "exists(members m where m.team_id = row.id and m.user_id = auth.id and m.role = 'owner')"
delete = "exists(members m where m.team_id = row.id and m.user_id = auth.id and m.role = 'owner')"
[rules.teams.columns.secret]
read = "deny"
[rules.members]
read = "public"
create = "new.user_id = auth.id and not exists(members m where m.team_id = new.team_id)"
update = "row.user_id = auth.id"
delete = "row.user_id = auth.id"
[rules.counters]
read = "public"
create = "authenticated"
update = "authenticated"
delete = "row.n = 1"
`;

async function world(wrap?: TestProject["wrap"]) {
  const server: TestServer = await serve({ schema, config, ...(wrap && { wrap }) });
  const ann = client(server, (await member(server, "ann")).bearer);
  const ben = client(server, (await member(server, "ben")).bearer);
  const key = client(server, await apiKey(server, "project:backend"));
  return { server, ann, ben, key };
}

const batch = (by: Client, operations: readonly unknown[], headers = {}) =>
  by.post("/api/_svc/batch", { operations }, headers);
const create = (table: string, values: object) => ({ op: "create", table, values });
const update = (table: string, key: object, set: object) => ({ op: "update", table, key, set });
const remove = (table: string, key: object) => ({ op: "delete", table, key });
const metaOf = (answer: Answer) => (answer.body as { meta: object }).meta;

describe("a batch", () => {
  test("opens a team and its first membership together, changes and deletes in it", async () => {
    const { server, ann } = await world();
    const answer = await batch(ann, [
      create("teams", { name: "A" }),
      create("members", { team_id: { $ref: "0.id" }, user_id: "ann", role: "owner", note: { $ref: "0.id" } }),
      update("teams", { id: { $ref: "0.id" } }, { name: "B" }),
      update("members", { team_id: { $ref: "1.team_id" }, user_id: "ann" }, { note: 7 }),
      create("counters", { n: 1 }),
      remove("counters", { id: { $ref: "4.id" } }),
    ]);
    expect(answer.status, answer.text).toBe(200);
    const [team, membership, renamed, noted, counter, gone] = dataOf<Record<string, unknown>[]>(answer);
    const id = team!.id as string;
    expect(team).toEqual({ id, name: "A", hidden: null });
    expect(membership).toEqual({ team_id: id, user_id: "ann", role: "owner", note: { $ref: "0.id" } });
    expect(renamed).toEqual({ id, name: "B", hidden: null });
    expect(noted).toEqual({ ...membership, note: 7 });
    expect(gone).toEqual({ id: counter!.id });
    expect(metaOf(answer)).toMatchObject({ rows_written: 6, rows_returned: 6 });
    // It is one transaction of the log.
    const transactions = await rowsOf(server, "SELECT count(DISTINCT tx), count(*) FROM _changes");
    expect(transactions).toEqual([[1, 6]]);
    expect(await rowsOf(server, "SELECT count(*) FROM _staged")).toEqual([[0]]);
  });

  test("of which one operation is refused does nothing, and names it", async () => {
    const { server, ann, ben } = await world();
    await batch(ann, [
      create("teams", { id: "t", name: "T" }),
      create("members", { team_id: "t", user_id: "ann", role: "owner" }),
      create("counters", { id: 1, n: 5 }),
    ]).then((answer) => expectRefusal(answer, 403, "forbidden", ["id"]));
    await batch(ann, [
      create("teams", { id: "t", name: "T" }),
      create("members", { team_id: "t", user_id: "ann", role: "owner" }),
      create("counters", { n: 5 }),
    ]).then(dataOf);
    const all = async () =>
      Promise.all(
        ["teams", "members", "counters", "_changes"].map((table) => rowsOf(server, `SELECT * FROM ${table}`)),
      );
    const before = await all();
    const first = update("counters", { id: 1 }, { n: 6 });
    const cases: readonly [Client, unknown, number, string, string[]?][] = [
      [ben, update("teams", { id: "t" }, { name: "no" }), 403, "forbidden"],
      [ben, remove("teams", { id: "t" }), 403, "forbidden"],
      [ann, update("teams", { id: "none" }, { name: "no" }), 404, "not_found"],
      [ann, remove("counters", { id: 1 }), 403, "forbidden"],
      [ann, create("teams", { name: "T" }), 409, "conflict", ["name"]],
      [ann, create("members", { team_id: "none", user_id: "ann" }), 409, "conflict", ["team_id"]],
      [ann, update("counters", { id: 1 }, { n: -1 }), 400, "bad_request", ["n"]],
      [ann, create("teams", {}), 400, "bad_request", ["name"]],
      [ann, create("teams", { name: "x", no: 1 }), 400, "bad_request"],
      [ann, create("nowhere", {}), 404, "not_found"],
      [ann, create("_users", {}), 404, "not_found"],
      [ann, update("teams", { name: "T" }, { name: "x" }), 400, "bad_request"],
      [ann, update("teams", {}, { name: "x" }), 400, "bad_request"],
      [ann, update("teams", { id: "t" }, {}), 400, "bad_request"],
      [ann, { op: "upsert", table: "teams" }, 400, "bad_request"],
      [ann, null, 400, "bad_request"],
      [ann, create("members", { team_id: { $ref: "0.id" }, user_id: "x" }), 400, "bad_request", ["team_id"]],
      [ann, create("members", { team_id: { $ref: "1.id" }, user_id: "x" }), 400, "bad_request"],
      [ann, create("members", { team_id: { $ref: "0.no" }, user_id: "x" }), 400, "bad_request"],
      [ann, create("members", { team_id: { $ref: "x" }, user_id: "x" }), 400, "bad_request"],
    ];
    for (const [by, bad, status, code, columns] of cases) {
      const words = expectRefusal(await batch(by, [first, bad, first]), status, code, columns);
      expect(words, JSON.stringify(bad)).toMatch(/^operation 1: ./);
    }
    expect(await all()).toEqual(before);
  });

  test("whose operation has a base is done where the row is as the caller believes", async () => {
    const { server, ann, ben } = await world();
    const opened = [
      create("teams", { id: "t", name: "T" }),
      create("members", { team_id: "t", user_id: "ann", role: "owner", note: [1] }),
      create("teams", { id: "h", name: "H", hidden: true }),
      create("members", { team_id: "h", user_id: "ann", role: "owner" }),
      create("counters", { n: 5 }),
    ];
    dataOf(await batch(ann, opened));
    const first = update("counters", { id: 1 }, { n: 6 });
    const renamed = (base: unknown, id = "t") => ({ ...update("teams", { id }, { name: "no" }), base });
    const left = (base: unknown) => ({ ...remove("members", { team_id: "t", user_id: "ann" }), base });
    const cases: readonly [Client, unknown, number, string, string[]?][] = [
      [ann, renamed({ name: "S" }), 409, "conflict", ["name"]],
      [ann, renamed({ name: "T", hidden: true }), 409, "conflict", ["hidden"]],
      [ann, left({ role: "member", note: [2] }), 409, "conflict", ["role", "note"]],
      [ben, left({ role: "owner" }), 403, "forbidden"],
      [ann, renamed({ name: "T" }, "none"), 404, "not_found"],
      [ann, renamed({ name: "H" }, "h"), 404, "not_found"],
      [ann, renamed({ name: "no" }, "h"), 404, "not_found"],
      [ann, renamed({ no: 1 }), 400, "bad_request"],
      [ann, renamed({ secret: "classified" }), 400, "bad_request"],
      [ann, renamed({ name: 1 }), 400, "bad_request", ["name"]],
      [ann, renamed({}), 400, "bad_request"],
      [ann, renamed(null), 400, "bad_request"],
      [ann, { ...create("counters", {}), base: { n: 1 } }, 400, "bad_request"],
    ];
    for (const headers of [{}, { "Idempotency-Key": "k" }])
      for (const [by, bad, status, code, columns] of cases) {
        const words = expectRefusal(await batch(by, [first, bad, first], headers), status, code, columns);
        expect(words, JSON.stringify(bad)).toMatch(/^operation 1: ./);
      }
    expectRefusal(await batch(ann, [renamed({ name: "S" })]), 409, "conflict", ["name"]);
    expect(await rowsOf(server, "SELECT name, n FROM teams, counters WHERE name = 'T'")).toEqual([["T", 5]]);
    const done = await batch(ann, [
      renamed({ name: "T", hidden: null }),
      { ...first, base: { n: 5 } },
      left({ note: [1], role: "owner" }),
    ]);
    expect(dataOf(done)).toMatchObject([{ name: "no" }, { n: 6 }, { team_id: "t", user_id: "ann" }]);
  });

  test("whose later operations refer to earlier ones names the one that the database refuses", async () => {
    const { server, ann } = await world();
    dataOf(await ann.post("/api/teams", { id: "t", name: "T" }));
    const membership = create("members", { team_id: { $ref: "0.id" }, user_id: "ann", role: "owner" });
    const refused = async (bad: unknown, status: number, code: string, column: string) => {
      const operations = [
        create("teams", { name: "A" }),
        membership,
        update("teams", { id: { $ref: "1.team_id" } }, { name: "B" }),
        bad,
        update("teams", { id: { $ref: "0.id" } }, { name: "C" }),
      ];
      for (const headers of [{}, { "Idempotency-Key": code }]) {
        const words = expectRefusal(await batch(ann, operations, headers), status, code, [column]);
        expect(words).toMatch(/^operation 3: /);
      }
    };
    await refused(create("teams", { name: "T" }), 409, "conflict", "name");
    await refused(create("counters", { n: -1 }), 400, "bad_request", "n");
    expect(await rowsOf(server, "SELECT name FROM teams")).toEqual([["T"]]);
    expect(await rowsOf(server, "SELECT * FROM members")).toEqual([]);
  });

  test("refers to what the caller may read, and to nothing else", async () => {
    const { server, ann } = await world();
    const team = (values: object) => create("teams", { name: "x", ...values });
    const named = (path: string) => create("teams", { name: { $ref: path } });
    for (const [first, path] of [
      [team({}), "0.secret"],
      [team({ hidden: true }), "0.name"],
    ] as const)
      expectRefusal(await batch(ann, [first, named(path)]), 400, "bad_request");
    expect(await rowsOf(server, "SELECT count(*) FROM teams")).toEqual([[0]]);
    // Whoever writes a row is shown its key.
    const [hidden, member] = dataOf<Record<string, unknown>[]>(
      await batch(ann, [team({ hidden: true }), create("members", { team_id: { $ref: "0.id" }, user_id: "ann" })]),
    );
    expect([Object.keys(hidden!), member!.team_id]).toEqual([["id"], hidden!.id]);
  });

  test("is judged operation by operation", async () => {
    const { ann } = await world();
    // The second member is refused, because there is the first.
    const two = [
      create("teams", { name: "A" }),
      create("members", { team_id: { $ref: "0.id" }, user_id: "ann", role: "owner" }),
      create("members", { team_id: { $ref: "0.id" }, user_id: "ann", role: "x" }),
    ];
    expect(expectRefusal(await batch(ann, two), 403, "forbidden")).toMatch(/^operation 2:/);
    // The rule of the third operation holds by what the first two have made.
    const owned = [...two.slice(0, 2), remove("teams", { id: { $ref: "0.id" } })];
    expect((await batch(ann, owned)).status).toBe(200);
  });

  test("is done once with a key", async () => {
    const { ann } = await world();
    const operations = [
      create("teams", { name: "A" }),
      create("members", { team_id: { $ref: "0.id" }, user_id: "ann" }),
      remove("members", { team_id: { $ref: "0.id" }, user_id: "ann" }),
      create("teams", { name: "B" }),
    ];
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => batch(ann, operations, { "Idempotency-Key": "k" })),
    );
    const first = answers.find(({ headers }) => !headers.has("Idempotency-Replayed"))!;
    const [team, membership, ...others] = dataOf<Record<string, unknown>[]>(first);
    const key = { team_id: membership!.team_id, user_id: "ann" };
    // The membership is gone by then, so that a repetition shows its key.
    for (const answer of answers)
      expect(dataOf(answer)).toEqual([team, answer === first ? membership : key, ...others]);
    expect(dataOf(await ann.get("/api/teams"))).toHaveLength(2);
    expectRefusal(await batch(ann, operations.slice(0, 1), { "Idempotency-Key": "k" }), 422, "idempotency_mismatch");
  });

  test("has 1 to 100 operations and nothing else, and each needs its scope", async () => {
    const { server, ann } = await world();
    const one = create("counters", { n: 1 });
    expect(
      (
        await batch(
          ann,
          Array.from({ length: 100 }, () => one),
        )
      ).status,
    ).toBe(200);
    for (const body of [
      {},
      { operations: [] },
      { operations: Array.from({ length: 101 }, () => one) },
      { operations: {} },
      { operations: [one], x: 1 },
      [],
    ])
      expectRefusal(await ann.post("/api/_svc/batch", body), 400, "bad_request");
    expectRefusal(await batch(client(server), [one]), 401, "unauthorized");
    const counting = client(server, await apiKey(server, "resource:counters:write"));
    expect(dataOf(await batch(counting, [one]))).toEqual([{ id: 101, n: 1 }]);
    expectRefusal(await batch(counting, [one, create("teams", { name: "x" })]), 403, "forbidden");
    expectRefusal(await ann.get("/api/_svc/batch"), 405, "method_not_allowed");
  });
});

describe("a batch that is refused while others write", () => {
  const operations = [
    create("counters", { n: 1 }),
    create("teams", { name: "T" }),
    create("counters", { n: 2 }),
    create("teams", { id: "u", name: "U" }),
    create("counters", { n: 3 }),
  ];

  /** A database whose batches go through `send`, which is given what sends them. */
  const sending =
    (
      send: (
        statements: readonly Statement[],
        batch: (...others: readonly string[]) => ReturnType<Database["batch"]>,
      ) => ReturnType<Database["batch"]>,
    ) =>
    (database: Database): Database => ({
      ...database,
      foreignKeysStayOn: database.foreignKeysStayOn,
      answerBytesMax: database.answerBytesMax,
      imageBytesMax: database.imageBytesMax,
      statementsMax: database.statementsMax,
      query: (statements, long) => database.query(statements, long),
      batch: (statements, long) =>
        send(statements, (...others) =>
          others.length === 0
            ? database.batch(statements, long)
            : database.batch(others.map((sql) => ({ sql, params: [] }))),
        ),
      migrate: (statements, long) => database.migrate(statements, long),
      close: () => database.close(),
    });

  /** Other statements than the batch's come right after it was refused for the first time. */
  const disturbed = (...others: readonly string[]) => {
    let left = 1;
    return sending((_, batch) =>
      batch().catch(async (error: unknown) => {
        if (error instanceof ConstraintError && left-- > 0) await batch(...others);
        throw error;
      }),
    );
  };

  const names = async (server: TestServer) => (await rowsOf(server, "SELECT name FROM teams")).flat();

  test("is done, where what was in its way is gone", async () => {
    const { server, ann, key } = await world(disturbed("DELETE FROM teams"));
    await key.post("/api/teams", { name: "T" });
    expect(dataOf(await batch(ann, operations))).toHaveLength(5);
    expect(await names(server)).toEqual(["T", "U"]);
    expect(await rowsOf(server, "SELECT n FROM counters")).toEqual([[1], [2], [3]]);
  });

  test("names the operation and the error that belong together", async () => {
    const { server, ann, key } = await world(
      disturbed("DELETE FROM teams", "INSERT INTO teams (id, name) VALUES ('u', 'other')"),
    );
    await key.post("/api/teams", { name: "T" });
    const words = expectRefusal(await batch(ann, operations), 409, "conflict", ["id"]);
    expect(words).toMatch(/^operation 3: /);
    expect(await names(server)).toEqual(["other"]);
    expect(await rowsOf(server, "SELECT n FROM counters")).toEqual([]);
  });

  test("is refused all the same where no operation is found that is to blame", async () => {
    let refused = 0;
    const { server, ann } = await world(
      sending((statements, batch) => {
        const isTry = statements.some(({ sql }) => sql.endsWith(" AS undone"));
        if (isTry || !statements.some(({ sql }) => sql.includes('INTO "teams"'))) return batch();
        refused++;
        // As a reference that is deferred is refused by the commit alone.
        return Promise.reject(new ConstraintError("foreign_key", "FOREIGN KEY constraint failed"));
      }),
    );
    const two = [create("counters", { n: 1 }), create("teams", { name: "T" })];
    expect(expectRefusal(await batch(ann, two), 409, "conflict")).toMatch(/^operation 1: /);
    expect(refused).toBe(3);
    expect(await names(server)).toEqual([]);
  });
});
