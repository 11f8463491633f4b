import { expect, it } from "vitest";
import type { Statement } from "../../../src/platform/database.js";
import { client } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { member } from "../../support/people.js";
import { serve } from "../../support/server.js";

// The SQL of lists, rows and writes, in the open: its text and SQLite's plan of it, for each shape that differs from the
// others in something. `npx vitest run -u --project parts test/unit/statements` writes the files anew; read what changes.

const schema = `
rooms:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, not_null: true }
    name: { type: text, not_null: true }
    archived_at: { type: integer }
    size: { type: real }
  indexes: [{ columns: [owner_id] }, { columns: [archived_at] }, { columns: [name, -size] }]
room_members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer }, user_id: { type: text }, role: { type: text, not_null: true, default: member } }
  indexes: [{ columns: [user_id] }]
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, not_null: true, references: { table: rooms, on_delete: cascade } }
    author_id: { type: text, not_null: true }
    body: { type: text, not_null: true }
    created_at: { type: integer, not_null: true, default: { sql: "unixepoch()" } }
    attachment: { type: blob }
  indexes: [{ columns: [room_id, created_at] }, { columns: [author_id] }]
reports:
  columns: { id: { type: integer, primary_key: true }, author_id: { type: text }, kind: { type: text } }
tags:
  columns: { id: { type: integer, primary_key: true }, label: { type: text, not_null: true }, color: { type: text } }
  indexes: [{ columns: [label] }]
letters:
  columns: { id: { type: text, primary_key: true }, author_id: { type: text }, title: { type: text }, body: { type: text } }
  search: [title, body]
  indexes: [{ columns: [author_id] }]
`;

const inRoom = (row: string) => `exists(room_members m where m.room_id = ${row}.room_id and m.user_id = auth.id)`;

const config = `
[rules.rooms]
read = "row.owner_id = auth.id or exists(room_members m where m.room_id = row.id and m.user_id = auth.id)"
create = "new.owner_id = auth.id"
update = "old.owner_id = auth.id and row.archived_at is null"
delete = "row.owner_id = auth.id and not exists(messages m where m.room_id = row.id)"
[rules.rooms.columns.id]
write = "public"
[rules.room_members]
read = "row.user_id = auth.id"
[rules.messages]
read = "${inRoom("row")}"
create = "new.author_id = auth.id and ${inRoom("new")}"
update = "row.author_id = auth.id and ${inRoom("row")}"
delete = "row.author_id = auth.id and row.created_at > now()"
[rules.reports]
read = "exists($users u where u.id = row.author_id and u.role = 'user') or exists($users u where u.role = row.kind)"
[rules.tags]
read = "public"
create = "authenticated"
delete = "authenticated"
[rules.letters]
read = "row.author_id = auth.id"
`;

/** What a request makes the server send to the tables, as text; asked by a member of the first of two rooms, which she owns. */
async function recorded(role: "user" | "admin" = "user") {
  const board = switchboard();
  const server = await serve({ schema, config, wrap: board.wrap }, "app");
  const ada = await member(server, "ada", role);
  const caller = client(server, ada.bearer);
  await server.database.batch(
    [
      "INSERT INTO rooms (id, owner_id, name) SELECT value, ?, 'room ' || value FROM json_each('[1,2,3]')",
      "INSERT INTO room_members (room_id, user_id) VALUES (1, ?)",
      "INSERT INTO messages (id, room_id, author_id, body, created_at) SELECT value, 1, ?, 'hello', 9000000000 FROM json_each('[1,2]')",
      "INSERT INTO tags (id, label, color) SELECT value, 'tag ' || value, ? FROM json_each('[1,2,3,4,5]')",
    ].map((sql) => ({ sql, params: [ada.id] })),
  );
  const isOfTables = ({ sql }: Statement) =>
    !sql.startsWith("EXPLAIN") && /"(rooms|room_members|messages|reports|tags|letters)"/.test(sql);
  const withPlan = async ({ sql, params }: Statement) => {
    const [plan] = await server.database.query([{ sql: `EXPLAIN QUERY PLAN ${sql}`, params }]);
    const depths = new Map<unknown, number>();
    const lines = plan!.rows.map(([id, parent, , detail]) => {
      const depth = depths.get(parent) ?? 0;
      depths.set(id, depth + 1);
      return `--   ${"  ".repeat(depth)}${detail}`;
    });
    return [`${clauses(sql)};`, ...lines].join("\n");
  };
  const send = (method: string, path: string, body?: unknown) => {
    const headers = { "Content-Type": "application/json", "Svc-Preview": "1000" };
    return caller.send(method, path, body === undefined ? { headers } : { headers, body: JSON.stringify(body) });
  };
  return async (method: string, path: string, body?: object, title = `${method} ${path}`) => {
    board.reset();
    const answer = await send(method, path, body && { ...body, ...("owner_id" in body && { owner_id: ada.id }) });
    const texts: string[] = [];
    for (const statement of board.sent.filter(isOfTables)) texts.push(await withPlan(statement));
    const sent = body === undefined ? "" : ` ${JSON.stringify(body)}`;
    const { meta } = answer.body as { meta?: { next_cursor?: string } };
    return {
      text: [`-- ${title}${sent} → ${answer.status}`, ...texts].join("\n"),
      cursor: meta?.next_cursor,
    };
  };
}

/** The same text, with each clause on a line of its own, indented by the parentheses around it. */
function clauses(sql: string): string {
  let depth = 0;
  return sql.replace(
    /'[^']*'|"[^"]*"|[()]| (?=(?:SELECT|FROM|WHERE|GROUP BY|ORDER BY|LIMIT|UNION ALL|RETURNING|SET|VALUES) )/g,
    (part) => {
      if (part === "(") depth++;
      if (part === ")") depth--;
      return part === " " ? `\n${"  ".repeat(depth)}` : part.replaceAll("\n", "\\n");
    },
  );
}

it("lists", async () => {
  const show = await recorded();
  const texts: string[] = [];
  for (const path of [
    "/api/tags",
    "/api/tags?limit=2&select=id,label",
    "/api/tags?sort=-id&offset=1",
    "/api/tags?sort=label",
    "/api/tags?sort=color,-label",
    "/api/tags?where[label]=tag+1",
    "/api/tags?filter[id][in]=1,2,3&sort=-id",
    "/api/tags?filter[id][gte]=2&filter[id][lt]=4",
    "/api/tags?filter[label][gt]=tag+1&filter[color][is_null]=true",
    "/api/tags?filter[label][contains]=ag&filter[label][starts_with]=t",
    "/api/tags?filter[color][ne]=red&filter[label][lte]=z",
    "/api/rooms",
    "/api/rooms?filter[archived_at][is_null]=true",
    "/api/rooms?filter[archived_at][is_null]=false&where[owner_id]=nobody",
    "/api/rooms?filter[size][in]=1,2.5&sort=name,-size",
    "/api/messages",
    "/api/messages?sort=created_at&total=none",
    "/api/messages?where[room_id]=1&sort=-created_at",
    "/api/messages?where[room_id]=1&where[author_id]=nobody",
    "/api/messages?filter[author_id][in]=a,b&filter[created_at][gt]=5",
    "/api/room_members",
    "/api/reports",
  ])
    texts.push((await show("GET", path)).text);
  for (const path of [
    "/api/tags?limit=2",
    "/api/tags?limit=2&sort=color,-label",
    "/api/rooms?limit=2&sort=name,-size",
    "/api/messages?limit=1&sort=created_at",
  ]) {
    const { cursor } = await show("GET", path);
    const behind = await show("GET", `${path.split("?")[0]}?cursor=${cursor}`, undefined, `GET what follows ${path}`);
    texts.push(behind.text);
  }
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("lists.sql");
});

it("expansions", async () => {
  const show = await recorded();
  const texts: string[] = [];
  for (const path of [
    "/api/messages?where[room_id]=1&select=id&expand=room_id&expand[room_id][select]=name",
    "/api/rooms?where[id]=1&select=id&expand[messages.room_id][sort]=-created_at,-id&expand[messages.room_id][select]=body",
    "/api/rooms?where[id]=1&select=id&expand[messages.room_id][count]=true&expand[messages.room_id][sort]=author_id",
  ])
    texts.push((await show("GET", path)).text);
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("expansions.sql");
});

it("searches", async () => {
  const show = await recorded();
  const texts: string[] = [];
  for (const path of [
    "/api/letters?search=red+sho&sort=id&select=id",
    '/api/letters?search="red+shoe"&filter[author_id][ne]=bob',
  ])
    texts.push((await show("GET", path)).text);
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("searches.sql");
});

it("previews of long values, for administrators", async () => {
  const show = await recorded("admin");
  const texts: string[] = [];
  for (const path of [
    "/admin/api/data/messages/1",
    "/admin/api/data/messages",
    "/admin/api/data/letters?sort=title&select=title,body",
    "/admin/api/data/messages?select=id&expand=room_id&expand[room_id][select]=name",
  ])
    texts.push((await show("GET", path)).text);
  texts.push((await show("PATCH", "/admin/api/data/messages/1", { body: "new" })).text);
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("previews.sql");
});

it("aggregates", async () => {
  const show = await recorded();
  const texts: string[] = [];
  for (const query of [
    "/api/tags/_svc/aggregate?count=*",
    "/api/tags/_svc/aggregate?group=color&count=*&min=label&sum=id&avg=id&where[label]=tag+1&sort=-sum_id",
    "/api/rooms/_svc/aggregate?group=owner_id&sum=size&count_distinct=name",
    "/api/messages/_svc/aggregate?count=*&where[room_id]=1",
  ])
    texts.push((await show("GET", query)).text);
  const path = "/api/tags/_svc/aggregate?group=label,color&count=*&sort=-count&limit=2";
  const { cursor } = await show("GET", path);
  const behind = `/api/tags/_svc/aggregate?cursor=${cursor}`;
  texts.push((await show("GET", behind, undefined, `GET what follows ${path}`)).text);
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("aggregates.sql");
});

it("rows and writes", async () => {
  const show = await recorded();
  const texts: string[] = [];
  for (const [method, path, body] of [
    ["GET", "/api/tags/1"],
    ["GET", "/api/rooms/1"],
    ["GET", "/api/rooms/9"],
    ["GET", "/api/messages/1"],
    ["POST", "/api/tags", { label: "new" }],
    ["POST", "/api/tags", {}],
    ["POST", "/api/rooms", { owner_id: "", name: "fourth", size: 2.5 }],
    ["POST", "/api/messages", { room_id: 1, author_id: "somebody", body: "as another" }],
    ["PATCH", "/api/rooms/1", { name: "renamed" }],
    ["PATCH", "/api/rooms/1", { archived_at: 1 }],
    ["PATCH", "/api/rooms/9", { name: "none" }],
    ["PATCH", "/api/messages/1", { body: "hi" }],
    ["PATCH", "/api/messages/1", { room_id: 2 }],
    ["DELETE", "/api/messages/1"],
    ["DELETE", "/api/rooms/3"],
    ["DELETE", "/api/tags/5"],
  ] as const)
    texts.push((await show(method, path, body)).text);
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("rows.sql");
});
