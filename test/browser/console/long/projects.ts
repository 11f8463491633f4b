import type { Served } from "../support.js";

/** A project with every kind of column, history, versions, a search index and an operation. */
export const schema = `\
$auth: { providers: [google], redirect_urls: ["http://localhost:5173/auth/callback"] }
rooms:
  columns:
    id: { type: text, primary_key: true, default: { sql: "lower(hex(randomblob(4)))" } }
    owner_id: { type: text, not_null: true, references: { table: $users, on_delete: cascade } }
    name: { type: text, not_null: true, check: "length(name) between 1 and 80" }
  unique: [[owner_id, name]]
room_members:
  primary_key: [room_id, user_id]
  columns:
    room_id: { type: text, not_null: true, references: { table: rooms, on_delete: cascade } }
    user_id: { type: text, not_null: true, references: { table: $users, on_delete: cascade } }
    role: { type: text, not_null: true, default: member }
  indexes: [{ columns: [user_id] }]
messages:
  history: 30d
  search: [body]
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: text, not_null: true, references: { table: rooms, on_delete: cascade } }
    author_id: { type: text, not_null: true, references: { table: $users, on_delete: cascade } }
    body: { type: text, not_null: true, check: "length(body) >= 1" }
    pinned: { type: boolean, not_null: true, default: false }
    score: { type: real }
    extra: { type: json }
    picture: { type: blob }
    version: { type: integer, not_null: true, managed: version }
    created_at: { type: integer, not_null: true, managed: created_at }
  indexes: [{ columns: [room_id, created_at] }]
measurements:
  columns:
    id: { type: integer, primary_key: true }
    sensor: { type: text, not_null: true }
    value: { type: real }
tags:
  columns:
    id: { type: integer, primary_key: true }
    label: { type: text, not_null: true, unique: true }
    color: { type: text }
$operations:
  rename_room:
    params: { id: text, name: text }
    allow: "exists(rooms r where r.id = params.id and r.owner_id = auth.id)"
    steps:
      - { sql: "update rooms set name = :name where id = :id", expect: 1, else: not_found }
`;

export const rules = `
[conditions]
"member(room)" = "exists(room_members m where m.room_id = room and m.user_id = auth.id)"
[rules.rooms]
read = "row.owner_id = auth.id or member(row.id)"
create = "new.owner_id = auth.id"
[rules.messages]
read = "member(row.room_id)"
create = "new.author_id = auth.id and member(new.room_id)"
update = "row.author_id = auth.id and new.room_id = old.room_id"
delete = "row.author_id = auth.id"
[rules.messages.columns.score]
read = "auth.role = 'admin'"
[rules.measurements]
read = "row.sensor = auth.id"
`;

const sentences = [
  "The build is green again and the numbers look right.",
  "Could somebody look at the new invoice form before lunch?",
  "I have moved the meeting to Thursday.",
  "Thanks, that was quick.",
  "The deploy is done, nobody noticed.",
];

/** Fills the project: people, rooms, a thousand messages and a hundred thousand measurements. */
export async function fill(served: Served): Promise<{ readonly bea: string; readonly carl: string }> {
  const { user, sql, server } = served;
  const people: string[] = [];
  for (const name of ["bea", "carl", "dana", "emil"]) people.push(await user(`${name}@example.com`));
  const [bea, carl] = people as [string, string, string, string];
  for (const [i, name] of ["Lobby", "Design", "Support", "Random"].entries()) {
    await sql("INSERT INTO rooms (id, owner_id, name) VALUES (?, ?, ?)", `room${i}`, people[i]!, name);
    await sql("INSERT INTO room_members (room_id, user_id, role) VALUES (?, ?, 'owner')", `room${i}`, people[i]!);
  }
  await sql("INSERT INTO room_members (room_id, user_id, role) VALUES ('room0', ?, 'member')", carl);
  const now = Math.floor(server.clock.now() / 1000);
  await sql(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
     INSERT INTO messages (room_id, author_id, body, pinned, score, extra, version, created_at)
     SELECT 'room' || (i % 4), json_extract(?, '$[' || (i % 4) || ']'), json_extract(?, '$[' || (i % 5) || ']'),
       i % 17 = 0, CASE WHEN i % 5 THEN (i * 37 % 1000) / 10.0 END,
       CASE WHEN i % 3 = 0 THEN json_object('tags', json_array('a', 'b'), 'n', i) END, i, ? - i FROM n`,
    JSON.stringify(people),
    JSON.stringify(sentences),
    now,
  );
  await sql(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
     INSERT INTO measurements (sensor, value) SELECT 'sensor ' || (i % 40), i / 7.0 FROM n`,
  );
  await sql(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
     INSERT INTO _usage_days SELECT date(?, 'unixepoch', '-' || i || ' days'), 'messages', 'user', ?,
       400 + i * 37 % 90, 9000 + i * 7919 % 6000, 300 + i * 977 % 2400, 5000 + i * 31, 0 FROM n`,
    now,
    bea,
  );
  await sql("INSERT INTO _usage_gaps VALUES ('a gap', ?, 'crash', 2000)", (now - 9 * 86_400) * 1000);
  for (const [label, color] of [
    ["bug", "#d33"],
    ["idea", "#38c"],
    ["question", null],
  ] as const)
    await sql("INSERT INTO tags (label, color) VALUES (?, ?)", label, color);
  return { bea, carl };
}
