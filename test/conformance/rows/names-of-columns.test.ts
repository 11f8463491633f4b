import { expect, it } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import { loadSchemaInForce } from "../../../src/schema/in-force.js";
import { eraseHistory } from "../../../src/tables/history/erase.js";
import { type Answer, client } from "../../support/client.js";
import { member } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

// Words that SQLite reads as something else than a column somewhere. A project with columns of such names answers as
// one with plain names does.

/** Two columns, as the schema and SQL of the owner name them. */
type Names = readonly [a: string, b: string];
const plain: Names = ["fine", "good"];

const schema = ([a, b]: Names) => `
$operations:
  note:
    params: { id: integer, "${a}": text }
    allow: "params.${a} = 'op'"
    steps:
      - { sql: 'update items set "${a}" = :${a} where id = :id', expect: 1 }
      - { sql: 'select id, "${a}", "${b}" from items where "${b}" = 7', returns: many }
items:
  history: forever
  search: ["${a}"]
  columns:
    id: { type: integer, primary_key: true }
    "${a}": { type: text, unique: true, check: '"${a}" <> ''never''' }
    "${b}": { type: integer, not_null: true, default: 7 }
    owner: { type: text }
    at: { type: integer, managed: updated_at }
    size: { type: real }
  indexes: [{ columns: ["${b}"] }, { columns: [owner], where: '"${b}" > 3' }]
links:
  history: forever
  primary_key: ["${a}", "${b}"]
  columns:
    "${a}": { type: integer, references: { table: items, on_delete: cascade } }
    "${b}": { type: text, not_null: true }
    note: { type: text }
  triggers:
    said: 'after update on links when new."${b}" = ''loud'' begin update items set "${b}" = 8 where id = old."${a}"; end'
counted:
  columns:
    id: { type: integer, primary_key: true }
    "${a}": { type: text, not_null: true }
    "${b}": { type: integer, not_null: true, managed: version }
`;

const config = ([a, b]: Names) => `usage.enabled = false
[rules.items]
read = "row.${b} > 5 and exists(links l where l.${a} = row.id and l.${b} = auth.id) or row.owner = auth.id and row.${a} is not null"
create = "new.owner = auth.id and new.${a} != 'no'"
update = "row.owner = auth.id and new.${b} = old.${b}"
delete = "row.owner = auth.id and row.${a} in ('a', 'b', 'c', 'op', 'seven')"
history = "row.${a} != 'x'"
[rules.items.columns.${b}]
read = "authenticated"
write = "auth.role = 'user'"
[rules.links]
read = "row.${b} = auth.id or exists(items i where i.id = row.${a} and i.${b} = 7 and i.owner = auth.id)"
create = "new.${b} = auth.id"
update = "old.${b} = auth.id"
delete = "row.${b} = auth.id"
history = "public"
[rules.counted]
read = "row.${a} != ''"
create = "public"
update = "new.${a} != old.${a}"
`;

/** Members of answers that differ between projects: sealed ones, SQL, places in files, and texts of rules. */
const others = new Set("next_cursor checkpoint request_id attempt_id sql plan column text message reason".split(" "));

/** Members whose values have words of the same names. */
const verbatim = new Set(["counts", "kind"]);

/** What a project with these names answers, with the names taken out. */
async function answers([a, b]: Names): Promise<readonly (readonly [request: string, answer: unknown])[]> {
  const server = await serve({ schema: schema([a, b]), config: config([a, b]) });
  const ada = client(server, (await member(server, "ada")).bearer);
  const bob = client(server, (await member(server, "bob")).bearer);
  const root = client(server, (await member(server, "root", "admin")).bearer);
  const key = client(server, await apiKey(server, "project:backend"));
  const writer = client(server, await apiKey(server, "resource:items:write", "resource:links:write"));
  const said: [string, unknown][] = [];
  const wordsOf = new RegExp(`(?<![A-Za-z])(${a}|${b})(?![A-Za-z])`, "g");
  const named = (text: string) => text.replace(wordsOf, (word) => (word === a ? "<a>" : "<b>"));
  const isSealed = (name: string, each: unknown) => ["seq", "floor"].includes(name) && typeof each === "string";
  const shown = (value: unknown): unknown => {
    if (typeof value === "string") return /^[0-9a-f]{32}$/.test(value) ? "an id" : named(value);
    if (Array.isArray(value)) return value.map(shown);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !others.has(name))
        // Users are told sealed numbers.
        .map(([name, each]) => [
          named(name),
          isSealed(name, each) ? "sealed" : verbatim.has(name) ? each : shown(each),
        ]),
    );
  };
  const keep = async (what: string, answer: Promise<Answer>) => {
    const { status, body } = await answer;
    said.push([what.replace(/[?{[].*/s, ""), { status, body: shown(body) }]);
    return body as {
      readonly data: { readonly seq: string }[];
      readonly meta: Record<string, string>;
      checkpoint: string;
    };
  };
  const callers = { ada, bob, root, key };
  const get = async (path: string, among: readonly (keyof typeof callers)[] = ["ada", "bob", "key"]) => {
    for (const who of among) await keep(`${who} GET ${path}`, callers[who].get(path));
  };
  const item = (id: number, word: string | null, more: object = {}) => ({ id, [a]: word, owner: "ada", ...more });
  const post = (who: keyof typeof callers, path: string, body: unknown) =>
    keep(`${who} POST ${path} ${JSON.stringify(body)}`, callers[who].post(path, body));

  for (const [id, word] of ["a", "b", "c"].entries()) await post("key", "/api/items", item(id + 1, word));
  for (const word of ["no", "never", "a"]) await post("ada", "/api/items", { [a]: word, owner: "ada" });
  await post("ada", "/api/items", { [a]: "word two", [b]: 9, owner: "ada" });
  await post("key", "/api/items", item(5, "of bob", { owner: "bob" }));
  await post("bob", "/api/links", { [a]: 1, [b]: "bob" });
  await post("bob", "/api/links", { [a]: 99, [b]: "bob" });
  await post("ada", "/api/links", { [a]: 5, [b]: "ada", note: "n" });
  const two = ["six", "seven"].map((word) => ({ [a]: word, owner: "ada" }));
  await post("ada", "/api/items", two);
  await keep("writer bulk", writer.post("/api/items", [item(8, "eight")]));
  await post("ada", `/api/items?on_conflict=${a}&on_duplicate=update`, { [a]: "c", owner: "ada", size: 2 });
  await post("key", `/api/links?on_conflict=${a},${b}&on_duplicate=update`, { [a]: 1, [b]: "bob", note: "again" });
  await keep("PATCH", ada.patch("/api/items/1", { size: 1.5 }));
  await keep("PATCH of a", ada.patch("/api/items/2", { [a]: "bb" }));
  await keep("PATCH of b", ada.patch("/api/items/2", { [b]: 8 }));
  await keep("PATCH of a pair", bob.patch(`/api/links/_svc/key?${a}=1&${b}=bob`, { note: "loud" }));
  await keep("PATCH by a key", key.patch(`/api/links/_svc/key?${a}=1&${b}=bob`, { [b]: "loud" }));

  for (const query of [
    "",
    `?sort=${a}&limit=2`,
    `?sort=-${b},${a}&limit=2`,
    `?where[${a}]=c`,
    `?filter[${b}][gte]=8&sort=size`,
    `?filter[${a}][contains]=o&select=id,${a}`,
    `?filter[$or][0][${a}][in]=a,c&filter[$or][1][${b}][eq]=9`,
    "?search=word",
    `?search=two&sort=-${a}`,
    `?expand=links.${a}&expand[links.${a}][sort]=-${b}&expand[links.${a}][count]=true`,
    `?select=${b}&total=none`,
    "?offset=2&limit=1",
  ])
    await get(`/api/items${query}`);
  for (const query of ["", `?expand=${a}`, `?sort=${b}`, `?where[${a}]=1`]) await get(`/api/links${query}`);
  for (const sort of [a, `-${b}`, `${b},-${a}`]) {
    const first = await ada.get(`/api/items?sort=${sort}&limit=2`);
    expect(first.status, first.text + server.log.lines.join("\n")).toBe(200);
    const { meta } = first.body as { meta: { next_cursor: string } };
    await keep("the next page", ada.get(`/api/items?cursor=${encodeURIComponent(meta.next_cursor)}`));
  }
  await get("/api/items/1");
  await get(`/api/links/_svc/key?${a}=5&${b}=ada`);
  for (const query of [`group=${a}&count=*`, `group=${b}&count=*&max=${a}&sort=-${b}&limit=1`, `sum=${b}&count=${a}`])
    await get(`/api/items/_svc/aggregate?${query}`);
  for (const query of ["", "?where[id]=2", "?limit=2"]) await get(`/api/items/_svc/history${query}`);
  await get(`/api/links/_svc/history?where[${a}]=1&where[${b}]=bob`);
  const { data: entries } = await keep("entries", key.get("/api/items/_svc/history?where[id]=2"));
  const first = entries.at(-1)!.seq;
  for (const table of ["items", "links"]) {
    await get(`/api/${table}/_svc/state?at=${first}`, ["key"]);
    await get(`/api/${table}/_svc/state?at=${entries[0]!.seq}&filter[${a}][is_null]=false`, ["key"]);
    await get(`/api/${table}/_svc/state?at=${encodeURIComponent(new Date(server.clock.now()).toISOString())}`);
  }
  await post("key", "/api/items/_svc/restore", { key: { id: 2 }, seq: first });
  await post("ada", "/api/_svc/batch", {
    operations: [
      { op: "update", table: "items", key: { id: 1 }, set: { size: 3 } },
      { op: "delete", table: "items", key: { id: 7 } },
      { op: "create", table: "links", values: { [a]: 2, [b]: "ada" } },
    ],
  });
  await post("ada", "/ops/note", { id: 3, [a]: "op" });
  await post("ada", "/ops/note", { id: 3, [a]: "other" });
  const tables = { items: { select: ["id", a, b] }, links: { filter: { [a]: { gte: 1 } } } };
  for (const who of ["ada", "key"] as const) {
    const { checkpoint } = await post(who, "/api/_svc/pull", { tables });
    await keep("meanwhile", key.patch(`/api/items/${who === "ada" ? 1 : 2}`, { [b]: 10, [a]: who }));
    await keep("pull again", callers[who].post("/api/_svc/pull", { tables, checkpoint }));
  }
  await post("ada", "/api/items/_svc/query", { filter: { [a]: { eq: "op" } }, sort: [b], select: [a] });
  expect((await key.post("/api/counted", { id: 1, [a]: "x" })).status).toBe(201);
  const one = await key.get("/api/counted/1");
  const match = { "If-Match": one.headers.get("ETag")! };
  expect((await key.patch("/api/counted/1", { [a]: "y" }, match)).status).toBe(200);
  expect((await key.patch("/api/counted/1", { [a]: "z" }, match)).status).toBe(412);
  for (const question of [
    { as: { user: "ada" }, action: "read", table: "items", key: { id: 5 } },
    { as: { user: "bob" }, action: "read", table: "links", key: { [a]: 5, [b]: "ada" } },
    { as: { user: "ada" }, action: "update", table: "items", key: { id: 1 }, values: { [b]: 11 } },
    { as: { user: "ada" }, action: "create", table: "items", values: item(20, "no") },
    { as: { user: "ada" }, action: "delete", table: "items", key: { id: 1 } },
    { as: { user: "ada" }, action: "read", table: "items", query: { sort: [a], filter: { [b]: { gte: 7 } } } },
    { as: { user: "bob" }, action: "history", table: "items", key: { id: 1 } },
  ])
    await post("root", "/admin/api/explain", question);
  for (const query of ["", `?sort=-${a}`, `?expand=links.${a}`])
    await keep("preview", root.get(`/admin/api/data/items${query}`, { "Svc-Preview": "64" }));
  await get(`/admin/api/data/links?expand=${a}`, ["root"]);
  const inForce = (await loadSchemaInForce(server.database))!;
  for (const [table, its] of [
    ["items", "2"],
    ["links", JSON.stringify({ [a]: 1, [b]: "bob" })],
  ] as const)
    said.push(["erased", await eraseHistory(server.database, inForce, table, its)]);
  await keep("DELETE", ada.delete("/api/items/3"));
  await keep("DELETE of a pair", bob.delete(`/api/links/_svc/key?${a}=1&${b}=bob`));
  await get("/api/items");

  const changed = schema([a, b])
    .replace(
      `"${b}": { type: integer, not_null: true, default: 7 }`,
      `"${b}": { type: text, not_null: true, default: "7", check: '"${b}" <> ''''' }`,
    )
    .replace(
      `{ type: text, unique: true, check: '"${a}" <> ''never'''`,
      `{ type: text, not_null: true, unique: true, check: '"${a}" > '' '''`,
    )
    .replace(" where id = old", " where true and id = old")
    .replace("> 3'", "> 4'");
  const outcome = await applyChange(server.database, changed, { allowDestructive: true, now: server.clock.now() });
  said.push(["change", outcome.outcome === "applied" ? outcome.outcome : shown(outcome)]);
  await get("/api/items?sort=id", ["key"]);
  return said;
}

let expected: Awaited<ReturnType<typeof answers>> | undefined;

it.each<Names>([
  ["true", "False"],
  ["FALSE", "true"],
  ["null", "rowid"],
  ["excluded", "oid"],
  ["new", "current_time"],
])("columns called %s and %s are as good as others", { timeout: 60_000 }, async (...names) => {
  expected ??= await answers(plain);
  expect(await answers(names)).toEqual(expected);
});
