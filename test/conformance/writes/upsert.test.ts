import { describe, expect, test } from "vitest";
import { adopted } from "../../support/adopted.js";
import { type Answer, type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const metaOf = (answer: Answer) => (answer.body as { meta: Meta }).meta;
interface Meta {
  readonly metering: { readonly attempt_id: string };
}

const schema = `
members:
  history: forever
  primary_key: [room_id, user_id]
  columns:
    room_id: { type: integer }
    user_id: { type: text }
    role: { type: text, not_null: true, default: member }
    note: { type: text }
    locked: { type: boolean }
    hidden: { type: boolean }
    changed_by: { type: text, managed: updated_by }
    version: { type: integer, managed: version }
people:
  columns:
    id: { type: integer, primary_key: true }
    email: { type: text, unique: true }
    secret: { type: text, unique: true }
    name: { type: text, not_null: true }
`;
const config = `
[rules.members]
read = "row.hidden is null"
create = "new.role != 'owner'"
update = "row.locked is null"
[rules.people]
read = "public"
create = "authenticated"
update = "authenticated"
[rules.people.columns.secret]
read = "deny"
`;

async function world() {
  const server: TestServer = await serve({ schema, config });
  const ann = client(server, (await member(server, "ann")).bearer);
  const key = client(server, await apiKey(server, "project:backend"));
  await run(
    server,
    "INSERT INTO members (room_id, user_id, role, note, locked, hidden, version) VALUES (1, 'a', 'guest', 'old', NULL, NULL, 5), (1, 'b', 'guest', 'old', 1, NULL, 5), (1, 'c', 'guest', 'old', NULL, 1, 5)",
  );
  return { server, ann, key };
}

const path = (duplicate: string) => `/api/members?on_conflict=room_id,user_id&on_duplicate=${duplicate}`;

interface Member {
  readonly user_id: string;
  readonly role: string;
  readonly note: string | null;
  readonly version: number;
}

describe("on_duplicate=update", () => {
  test("creates what is new, changes what is there", async () => {
    const { ann } = await world();
    const answer = await ann.post(path("update"), [
      { room_id: 1, user_id: "a", note: "new" },
      { room_id: 1, user_id: "x", note: "new" },
    ]);
    expect(answer.status, answer.text).toBe(200);
    expect(dataOf<Member[]>(answer)).toMatchObject([
      { user_id: "a", role: "guest", note: "new", version: 6, changed_by: "ann" },
      { user_id: "x", role: "member", note: "new", changed_by: "ann" },
    ]);
    expect(metaOf(answer)).toMatchObject({ rows_read: 2, rows_written: 2, rows_returned: 2 });
    const again = await ann.post(path("update"), { room_id: 2, user_id: "x" });
    expect(again.status).toBe(201);
    expect(dataOf<Member>(again)).toMatchObject({ user_id: "x", role: "member", note: null });
    expect((await ann.post(path("update"), { room_id: 2, user_id: "x" })).status).toBe(200);
  });

  test("judges a row that is there by the update rule, one that is new by the create rule", async () => {
    const { ann, key } = await world();
    const before = dataOf(await key.get("/api/members"));
    const locked = [
      { room_id: 1, user_id: "a", note: "no" },
      { room_id: 1, user_id: "b", note: "no" },
    ];
    expect(expectRefusal(await ann.post(path("update"), locked), 403, "forbidden")).toMatch(/^row 1:/);
    expectRefusal(await ann.post(path("update"), { room_id: 1, user_id: "b" }), 403, "forbidden");
    expectRefusal(await ann.post(path("update"), { room_id: 3, user_id: "z", role: "owner" }), 403, "forbidden");
    expect(dataOf(await key.get("/api/members"))).toEqual(before);
    // The create rule has no say in what is there.
    const owner = await ann.post(path("update"), { room_id: 1, user_id: "a", role: "owner" });
    expect(dataOf<Member>(owner).role).toBe("owner");
  });

  test("by a unique constraint: the primary key of what is there stays", async () => {
    const { ann } = await world();
    const by = "/api/people?on_conflict=email&on_duplicate=update";
    const first = dataOf<{ id: number }>(await ann.post(by, { email: "a@x", name: "A" }));
    expect(dataOf(await ann.post(by, { email: "a@x", name: "B" }))).toEqual({ ...first, name: "B" });
    // Without the column that is NOT NULL: it stays in what is there, and is missing in what is new.
    expect(dataOf(await ann.post(by, { email: "a@x" }))).toEqual({ ...first, name: "B" });
    expectRefusal(await ann.post(by, { email: "b@x" }), 400, "bad_request", ["name"]);
    // NULL is equal to nothing.
    for (let i = 0; i < 2; i++) expect((await ann.post(by, { email: null, name: "N" })).status).toBe(201);
    expect(dataOf(await ann.get("/api/people"))).toHaveLength(3);
  });
});

describe("on_duplicate=ignore", () => {
  test("leaves what is there as it is, and shows it to who may read it", async () => {
    const { ann, key } = await world();
    const before = dataOf<Member[]>(await key.get("/api/members"));
    const answer = await ann.post(path("ignore"), [
      { room_id: 1, user_id: "a", note: "no" },
      { room_id: 1, user_id: "b", note: "no" },
      { room_id: 1, user_id: "c", note: "no" },
      { room_id: 1, user_id: "d", note: "yes" },
    ]);
    expect(answer.status, answer.text).toBe(200);
    const [a, b, c, d] = dataOf<(Member | null)[]>(answer);
    expect([a, b, c]).toEqual([before[0], before[1], null]);
    expect(d).toMatchObject({ user_id: "d", note: "yes", role: "member" });
    expect(metaOf(answer)).toMatchObject({ rows_read: 8, rows_written: 1, rows_returned: 3 });
    const after = dataOf<Member[]>(await key.get("/api/members"));
    expect(after.slice(0, 3)).toEqual(before);
    const hidden = await ann.post(path("ignore"), { room_id: 1, user_id: "c" });
    expect([hidden.status, dataOf(hidden)]).toEqual([200, null]);
  });
});

test("tells nobody whether a row is there that they could neither read nor create", async () => {
  const server = await serve({
    schema: `
teams: { columns: { id: { type: integer, primary_key: true }, owner: { type: text } } }
projects:
  columns:
    id: { type: integer, primary_key: true }
    team_id: { type: integer, references: { table: teams } }
    name: { type: text }
  unique: [[team_id, name]]
`,
    config: `
[conditions]
"owner(team)" = "exists(teams t where t.id = team and t.owner = auth.id)"
[rules.projects]
read = "owner(row.team_id)"
create = "owner(new.team_id) or new.name = 'free'"
update = "owner(row.team_id)"
`,
  });
  const key = client(server, await apiKey(server, "project:backend"));
  const ann = client(server, (await member(server, "ann")).bearer);
  const ben = client(server, (await member(server, "ben")).bearer);
  dataOf(await key.post("/api/teams", { id: 1, owner: "ann" }));
  dataOf(
    await key.post(
      "/api/projects",
      ["layoffs", "free"].map((name) => ({ team_id: 1, name })),
    ),
  );
  const put = (by: Client, name: string, onDuplicate: string) =>
    by.post(`/api/projects?on_conflict=team_id,name&on_duplicate=${onDuplicate}`, { team_id: 1, name });
  for (const onDuplicate of ["ignore", "update"]) {
    const [there, missing] = [await put(ben, "layoffs", onDuplicate), await put(ben, "other", onDuplicate)];
    expect(expectRefusal(there, 403, "forbidden")).toBe(expectRefusal(missing, 403, "forbidden"));
  }
  // Where a plain POST would be a 409, it is no secret.
  const free = await put(ben, "free", "ignore");
  expect([free.status, dataOf(free)]).toEqual([200, null]);
  const kept = await put(ann, "layoffs", "ignore");
  expect([kept.status, dataOf(kept)]).toEqual([200, { id: 1, team_id: 1, name: "layoffs" }]);
  expect(dataOf(await key.get("/api/projects"))).toHaveLength(2);
});

describe("without the primary key, by a unique constraint", () => {
  const tables = `
accounts:
  columns:
    id: { type: text, primary_key: true }
    email: { type: text, unique: true }
    name: { type: text }
    hidden: { type: boolean }
codes:
  columns:
    id: { type: text, primary_key: true, default: { sql: "lower(hex(randomblob(8)))" } }
    code: { type: text, unique: true }
    name: { type: text }
seats:
  primary_key: [room, number]
  columns:
    room: { type: text }
    number: { type: integer }
    guest: { type: text, unique: true }
    note: { type: text }
`;
  const rules = `
[rules.accounts]
read = "row.hidden is null"
create = "new.name != 'nobody'"
update = "row.name != 'fixed'"
[rules.seats]
read = "public"
create = "authenticated"
update = "authenticated"
`;
  const put = (by: Client, table: string, column: string, onDuplicate: string, rows: unknown, headers = {}) =>
    by.post(`/api/${table}?on_conflict=${column}&on_duplicate=${onDuplicate}`, rows, headers);
  const without = "id: expected a value, as it is part of the primary key";

  test("changes or keeps what is there; what is new needs a key", async () => {
    const server = await serve({ schema: tables, config: rules });
    const ann = client(server, (await member(server, "ann")).bearer);
    const key = client(server, await apiKey(server, "project:backend"));
    const rows = ["a", "b", "c", "d"].map((id) => ({ id, email: `${id}@x`, name: id, hidden: null as boolean | null }));
    rows[2]!.name = "fixed";
    rows[3]!.hidden = true;
    dataOf(await key.post("/api/accounts", rows));
    const accounts = (onDuplicate: string, body: unknown, headers = {}) =>
      put(ann, "accounts", "email", onDuplicate, body, headers);
    const changed = { ...rows[0]!, name: "A" };
    for (const name of ["", "k", "k"]) {
      const headers = name === "" ? {} : { "Idempotency-Key": name };
      const answer = await accounts("update", { email: "a@x", name: "A" }, headers);
      expect([answer.status, dataOf(answer)]).toEqual([200, changed]);
      const kept = await accounts("ignore", { email: "a@x", name: "B" }, headers);
      expect([kept.status, dataOf(kept)]).toEqual([200, changed]);
      const many = await accounts(
        "ignore",
        [{ email: "a@x" }, { email: "d@x", name: "x" }, { email: "b@x" }],
        name === "" ? {} : { "Idempotency-Key": "all" },
      );
      expect([many.status, dataOf(many)]).toEqual([200, [changed, null, rows[1]]]);
    }
    const both = await accounts("update", [
      { email: "b@x", name: "B" },
      { id: "e", email: "e@x", name: "E" },
    ]);
    expect([both.status, dataOf(both)]).toEqual([
      200,
      [
        { ...rows[1], name: "B" },
        { id: "e", email: "e@x", name: "E", hidden: null },
      ],
    ]);
    const before = dataOf(await key.get("/api/accounts"));
    for (const onDuplicate of ["update", "ignore"]) {
      const lone = await accounts(onDuplicate, { email: "new@x", name: "N" });
      expect(expectRefusal(lone, 400, "bad_request", ["id"])).toBe(without);
      const third = [
        { email: "a@x", name: "no" },
        { id: "f", email: "f@x", name: "F" },
        { email: "new@x", name: "N" },
      ];
      const words = expectRefusal(await accounts(onDuplicate, third), 400, "bad_request", ["id"]);
      expect(words).toBe(`row 2: ${without}`);
      // Rules come first: they tell nobody which rows are there.
      expectRefusal(await accounts(onDuplicate, { email: "new@x", name: "nobody" }), 403, "forbidden");
      expectRefusal(await accounts(onDuplicate, { id: null, email: "a@x" }), 400, "bad_request", ["id"]);
      // Without a value in the column, the row is new.
      expectRefusal(await accounts(onDuplicate, { email: null, name: "N" }), 400, "bad_request", ["id"]);
      expectRefusal(await accounts(onDuplicate, { name: "N" }), 400, "bad_request", ["id"]);
    }
    expectRefusal(await accounts("update", { email: "c@x", name: "no" }), 403, "forbidden");
    expectRefusal(await put(ann, "accounts", "id", "update", { email: "a@x" }), 400, "bad_request", ["id"]);
    expectRefusal(await ann.post("/api/accounts", { email: "a@x" }), 400, "bad_request", ["id"]);
    expect(dataOf(await key.get("/api/accounts"))).toEqual(before);
  });

  test("with a default, or with several columns", async () => {
    const server = await serve({ schema: tables, config: rules });
    const ann = client(server, (await member(server, "ann")).bearer);
    const key = client(server, await apiKey(server, "project:backend"));
    const made = await put(key, "codes", "code", "update", { code: "c", name: "C" });
    const { id } = dataOf<{ id: string }>(made);
    expect(made.status).toBe(201);
    for (const [onDuplicate, name] of [
      ["update", "D"],
      ["ignore", "D"],
    ] as const) {
      const again = await put(key, "codes", "code", onDuplicate, { code: "c", name }, { "Idempotency-Key": name });
      expect([again.status, dataOf(again)]).toEqual([200, { id, code: "c", name }]);
    }
    const seat = { room: "r", number: 1, guest: "ann", note: null };
    dataOf(await ann.post("/api/seats", seat));
    const noted = await put(ann, "seats", "guest", "update", { guest: "ann", note: "n" });
    expect([noted.status, dataOf(noted)]).toEqual([200, { ...seat, note: "n" }]);
    const half = await put(ann, "seats", "guest", "update", { guest: "ann", room: "other" });
    expect(dataOf(half)).toEqual({ ...seat, note: "n" });
    const other = await put(ann, "seats", "guest", "update", { guest: "ben", room: "r" });
    expectRefusal(other, 400, "bad_request", ["number"]);
  });

  test("in a table that another program made, which would take NULL for a key", async () => {
    const { server, key } = await adopted(
      "CREATE TABLE people (id TEXT PRIMARY KEY, email TEXT UNIQUE, name TEXT)",
      "INSERT INTO people VALUES ('a', 'a@x', 'A')",
    );
    const root = client(server, (await member(server, "root", "admin")).bearer);
    const people = (onDuplicate: string, body: unknown) =>
      root.post(`/admin/api/data/people?on_conflict=email&on_duplicate=${onDuplicate}`, body);
    const there = await put(key, "people", "email", "update", { email: "a@x", name: "B" });
    expect([there.status, dataOf(there)]).toEqual([200, { id: "a", email: "a@x", name: "B" }]);
    expect(dataOf(await people("update", [{ email: "a@x", name: "C" }]))).toMatchObject([{ id: "a", name: "C" }]);
    for (const onDuplicate of ["update", "ignore"]) {
      expectRefusal(await put(key, "people", "email", onDuplicate, { email: "b@x" }), 400, "bad_request", ["id"]);
      expectRefusal(await people(onDuplicate, [{ email: "b@x" }]), 400, "bad_request", ["id"]);
    }
    expect(dataOf(await key.get("/api/people"))).toEqual([{ id: "a", email: "a@x", name: "C" }]);
  });
});

test("is refused where it is not understood", async () => {
  const { ann, key } = await world();
  const row = { room_id: 9, user_id: "a" };
  for (const query of [
    "on_conflict=room_id,user_id",
    "on_duplicate=update",
    "on_conflict=room_id,user_id&on_duplicate=replace",
    "on_conflict=room_id&on_duplicate=update",
    "on_conflict=room_id,room_id&on_duplicate=update",
    "on_conflict=no&on_duplicate=update",
    "on_conflict=room_id,user_id&on_duplicate=update&x=1",
    "x=1",
  ])
    expectRefusal(await ann.post(`/api/members?${query}`, row), 400, "bad_request");
  // A column that one may not read is an unknown one.
  const unknown = (column: string) =>
    ann.post(`/api/people?on_conflict=${column}&on_duplicate=ignore`, { name: "x", email: "x" });
  const words = expectRefusal(await unknown("secret"), 400, "bad_request");
  expect(words.replace("secret", "no")).toBe(expectRefusal(await unknown("no"), 400, "bad_request"));
  expect(expectRefusal(await ann.post(path("update"), [row, row]), 400, "bad_request")).toMatch(/^row 1:/);
  expect(dataOf(await key.get("/api/members?where[room_id]=9"))).toEqual([]);
});
