import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Metrics } from "../../src/metering/metrics.js";
import { client } from "../support/client.js";
import { member, run } from "../support/people.js";
import { receiptRows } from "../support/receipts.js";
import { apiKey, serve } from "../support/server.js";

// `npm run docs` writes the table anew.

const page = "docs/reference/metering.md";

const schema = `
rooms: { columns: { id: { type: integer, primary_key: true }, owner: { type: text }, name: { type: text } } }
members: { primary_key: [room, user], columns: { room: { type: integer }, user: { type: text } }, indexes: [{ columns: [user] }] }
messages:
  columns:
    id: { type: integer, primary_key: true }
    room: { type: integer, references: { table: rooms, on_delete: cascade } }
    author: { type: text }
    body: { type: text }
  indexes: [{ columns: [room] }]
`;

const config = `
[rules.rooms]
read = "row.owner = auth.id or exists(members m where m.room = row.id and m.user = auth.id)"
create = "new.owner = auth.id"
delete = "row.owner = auth.id"
[rules.messages]
read = "exists(members m where m.room = row.room and m.user = auth.id)"
create = "new.author = auth.id and exists(members m where m.room = new.room and m.user = auth.id)"
update = "row.author = auth.id"
[rules.members]
read = "exists(rooms r where r.name = 'hall')"
`;

/** Who asks, what, and what a reader has to know to follow the count. */
const shapes: readonly (readonly [who: "key" | "ada", request: string, why: string])[] = [
  ["key", "GET /api/messages/1", "the row"],
  ["key", "GET /api/messages/99999", "no row is found, and none is examined"],
  ["ada", "GET /api/messages/1", "the row, and the membership that the rule looks up"],
  ["ada", "GET /api/rooms/2", "the room, and a membership"],
  ["key", "GET /api/messages?limit=10", "1,000 for `total`; 10 for the page, and one that shows that there are more"],
  ["key", "GET /api/messages?limit=10&offset=20", "also the 20 rows before the page"],
  ["key", "GET /api/messages?where[room]=2", "the room's 100, by an index, for `total`; 50 and one more for the page"],
  [
    "key",
    "GET /api/messages?filter[room][in]=2,3&limit=5",
    "200 twice, because the rows of an `in` are not in order and must be sorted",
  ],
  ["key", "GET /api/messages?filter[id][gt]=990", "10 twice, by the primary key"],
  [
    "key",
    "GET /api/messages?where[author]=ada&limit=5",
    "all for `total`, because no index serves `author`; 11 until the sixth match",
  ],
  [
    "key",
    "GET /api/messages?where[room]=2&filter[body][contains]=zebra",
    "the room's 100 to measure the searched text; 100 for `total`, 100 for the page",
  ],
  ["key", "GET /api/messages?sort=body&limit=5", "all twice, because no index has that order"],
  ["key", "GET /api/messages?sort=-id&limit=5", "1,000 for `total`; 6 by the primary key in descending order"],
  [
    "ada",
    "GET /api/messages?where[room]=1&limit=10",
    "one membership, looked up once for the room; 100 for `total`, 11 for the page",
  ],
  [
    "ada",
    "GET /api/messages?limit=10",
    "two memberships; the 200 messages of these rooms for `total`; 10 for the page, and one that shows that there are more",
  ],
  ["ada", "GET /api/rooms", "10 rooms and two memberships, twice"],
  ["key", "GET /api/messages/_svc/aggregate?count=*", "all, once"],
  ["key", "GET /api/messages/_svc/aggregate?count=*&group=author&where[room]=2", "the room's 100, by an index"],
  [
    "ada",
    "GET /api/messages/_svc/aggregate?count=*&group=room",
    "two memberships; the 200 messages of these rooms, once",
  ],
  ["ada", "GET /api/members", "no index serves the rule's `exists`"],
  [
    "ada",
    'POST /api/messages {"room":1,"author":"ada","body":"x"}',
    "the membership for the write, and the same one for the response",
  ],
  ["ada", 'PATCH /api/messages/1 {"body":"y"}', "the row, and a membership for the response"],
  ["key", 'POST /api/rooms {"name":"new"}', "no rule applies to a key"],
  ["key", "DELETE /api/rooms/3", "the room; the cascade's 100 rows count only as written"],
];

async function table(): Promise<string> {
  const server = await serve({ schema, config });
  const callers = {
    key: client(server, await apiKey(server, "project:backend")),
    ada: client(server, (await member(server, "ada")).bearer),
  };
  const numbers = (count: number) =>
    `(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n)`;
  await run(server, `INSERT INTO rooms SELECT i, iif(i = 5, 'ada', 'bob'), 'room ' || i FROM ${numbers(10)}`);
  await run(server, "INSERT INTO members VALUES (1, 'ada'), (2, 'ada'), (2, 'bob')");
  await run(
    server,
    `INSERT INTO messages SELECT i, (i - 1) % 10 + 1, iif(i % 2, 'ada', 'bob'), 'text ' || i FROM ${numbers(1000)}`,
  );
  const lines = ["| As | Request | read | written | returned | |", "|---|---|---|---|---|---|"];
  for (const [who, request, why] of shapes) {
    const [, method, path, body] = /^(\w+) (\S+)(?: (.*))?$/.exec(request)!;
    const headers = { "Content-Type": "application/json" };
    server.clock.advance(1);
    await callers[who].send(method!, path!, body === undefined ? {} : { headers, body });
    const sql = `SELECT rows_read, rows_written, rows_returned FROM ${receiptRows} WHERE at = ?`;
    const [found] = await server.database.query([{ sql, params: [BigInt(server.clock.now())] }]);
    const counts = found!.rows[0]!.map((count) => (count === null ? "`null`" : String(count)));
    lines.push(`| ${[who, `\`${request}\``, ...counts, why].join(" | ")} |`);
  }
  return `${lines.join("\n")}\n`;
}

it("the page's shapes cost what it says", async () => {
  const made = await table();
  const text = readFileSync(page, "utf8");
  const place = /(<!-- generated: metering -->\n)[\s\S]*?(<!-- end -->\n)/;
  if (process.env.DOCS === "1")
    writeFileSync(
      page,
      text.replace(place, (_, begin, end) => begin + made + end),
    );
  else expect(place.exec(text)![0]).toBe(`<!-- generated: metering -->\n${made}<!-- end -->\n`);
});

it("the page names the metrics that there are", () => {
  const journal = { available: true, waiting: 0, lost: 0 };
  const rendered = new Metrics().render(journal, 0).matchAll(/^# TYPE (\S+) (\S+)$/gm);
  const documented = readFileSync(page, "utf8").matchAll(/^\| `(svc_\w+)` \| (\w+) \|/gm);
  expect([...documented].map(([, ...of]) => of)).toEqual([...rendered].map(([, ...of]) => of));
});
