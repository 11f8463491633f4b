import { describe, expect, test } from "vitest";
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
