import { describe, expect, it } from "vitest";
import { run } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";
import { askerOf, casesOf, expectOutcomes } from "./hand-counted.js";

/**
 * What requests cost, counted with pencil and paper from what is documented (docs/reference/metering.md) and the rows below.
 * test/property/metering.test.ts asks for far more, but its expectations are worked out by a program that could share a
 * mistake with the server.
 *
 * The cases are written as hand-counted.ts says. Those that read share a server; each write has its own.
 */

const schema = `
rooms:
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text }
    name: { type: text }
members:
  primary_key: [room, user]
  columns:
    room: { type: integer, references: { table: rooms, on_delete: restrict } }
    user: { type: text }
    level: { type: integer }
  indexes: [{ columns: [user] }]
messages:
  columns:
    id: { type: integer, primary_key: true }
    room: { type: integer, references: { table: rooms, on_delete: cascade } }
    author: { type: text }
    likes: { type: integer }
    body: { type: text }
    slug: { type: text, unique: true }
  indexes: [{ columns: [room] }, { columns: [author, likes] }]
drafts:
  columns:
    id: { type: integer, primary_key: true }
    room: { type: integer, references: { table: rooms, on_delete: set_null } }
    body: { type: text }
staff: { columns: { user: { type: text, primary_key: true } } }
reports: { columns: { id: { type: integer, primary_key: true }, body: { type: text } } }
notices: { columns: { id: { type: integer, primary_key: true }, place: { type: text } } }
tasks: { columns: { id: { type: integer, primary_key: true }, state: { type: text } } }
logged: { columns: { id: { type: integer, primary_key: true }, task: { type: integer } } }
counted: { columns: { id: { type: integer, primary_key: true }, size: { type: integer } } }
pages: { columns: { id: { type: integer, primary_key: true }, body: { type: text } } }
papers: { columns: { id: { type: integer, primary_key: true }, doc: { type: text, check: "json_array_length(doc) > 0" } } }
shelves: { columns: { id: { type: text, primary_key: true }, place: { type: text }, label: { type: text } } }
books:
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text }
    title: { type: text }
    shelf: { type: text, references: { table: shelves } }
  search: [title]
  indexes: [{ columns: [owner] }, { columns: [shelf] }]
profiles: { columns: { id: { type: integer, primary_key: true }, person: { type: text }, bio: { type: text } } }
spots: { columns: { id: { type: integer, primary_key: true }, x: { type: real } } }
sites: { columns: { id: { type: integer, primary_key: true }, x: { type: real } } }
`;

const config = `
[rules.rooms]
read = "row.owner = auth.id or exists(members m where m.room = row.id and m.user = auth.id)"
create = "new.owner = auth.id"
[rules.members]
read = "row.user = auth.id"
update = "exists(rooms r where r.id = row.room and r.owner = auth.id)"
[rules.messages]
read = "exists(members m where m.room = row.room and m.user = auth.id)"
create = "new.author = auth.id and exists(members m where m.room = new.room and m.user = auth.id)"
update = "row.author = auth.id"
delete = "exists(rooms r where r.id = row.room and r.owner = auth.id)"
[rules.drafts]
read = "exists(members m where m.room = row.room and m.user = auth.id)"
update = "exists(members m where m.room = row.room and m.user = auth.id)"
[rules.reports]
read = "exists(staff s where s.user = auth.id)"
create = "authenticated"
[rules.notices]
read = "exists(rooms r where r.name = row.place)"
[rules.books]
read = "row.owner = auth.id"
[rules.profiles]
read = "exists($users u where u.id = row.person and u.role = 'admin')"
`;

const rows = [
  "INSERT INTO rooms (id, owner, name) VALUES (1, 'ada', 'hall'), (2, 'bob', 'lab'), (3, 'bob', 'attic'), (4, NULL, 'cellar')",
  "INSERT INTO members (room, user, level) VALUES (1, 'ada', 1), (2, 'ada', 1), (2, 'bob', 1), (3, 'bob', 1)",
  // Room 1: three messages; room 2: five; room 3: three; no room: one.
  `INSERT INTO messages (id, room, author, likes, body, slug) VALUES
    (1, 1, 'ada', 0, 'kite', 'first'), (2, 1, 'bob', 3, 'tree', NULL), (3, 1, 'ada', 5, 'kite', NULL),
    (4, 2, 'bob', 1, 'tree', NULL), (5, 2, 'ada', 2, 'kite', NULL), (6, 2, 'bob', 4, 'lake', 'sixth'),
    (7, 2, 'bob', 0, 'lake', NULL), (8, 2, 'ada', 1, 'tree', NULL),
    (9, 3, 'bob', 7, 'lake', NULL), (10, 3, 'bob', 2, 'kite', NULL), (11, 3, 'ada', 3, 'lake', NULL),
    (12, NULL, 'eve', 9, 'moon', NULL)`,
  "INSERT INTO drafts (id, room, body) VALUES (1, 1, 'x'), (2, 4, 'y'), (3, 4, 'z')",
  "INSERT INTO staff (user) VALUES ('ada')",
  "INSERT INTO reports (id, body) VALUES (1, 'a'), (2, 'b'), (3, 'c')",
  "INSERT INTO notices (id, place) VALUES (1, 'hall'), (2, 'yard')",
  "INSERT INTO shelves VALUES ('a', 'hall', NULL), ('b', 'attic', NULL)",
  "INSERT INTO books VALUES (1, 'ada', 'red fox', NULL), (2, 'bob', 'red hen', 'a'), (3, 'bob', 'blue hen', 'b'), (4, 'bob', 'reddish', 'a')",
  "INSERT INTO tasks (id, state) VALUES (1, 'open'), (2, 'done')",
  "INSERT INTO counted (id, size) VALUES (1, 0), (2, 0)",
  "INSERT INTO profiles (id, person) VALUES (1, 'ada'), (2, 'zoe')",
  `CREATE TRIGGER log_task AFTER INSERT ON tasks WHEN new.state = 'open' BEGIN
    INSERT INTO logged (task) VALUES (new.id); INSERT INTO logged (task) VALUES (new.id); END`,
  `CREATE TRIGGER keep_done BEFORE DELETE ON tasks WHEN old.state = 'done' BEGIN SELECT RAISE(ABORT, 'done'); END`,
  `CREATE TRIGGER touch AFTER INSERT ON counted BEGIN UPDATE counted SET size = size + 1; END`,
  "CREATE TRIGGER count_log AFTER DELETE ON logged BEGIN INSERT INTO counted (size) VALUES (0); END",
  "INSERT INTO logged (id, task) VALUES (1, 1)",
  "CREATE TRIGGER count_people AFTER UPDATE OF person ON profiles BEGIN SELECT count(*) FROM profiles; END",
  "CREATE VIRTUAL TABLE page_words USING fts5(body)",
  "CREATE TRIGGER index_page AFTER INSERT ON pages BEGIN INSERT INTO page_words (rowid, body) VALUES (new.id, new.body); END",
  "CREATE VIRTUAL TABLE spot_map USING rtree(spot, min_x, max_x)",
  "INSERT INTO spots (id, x) VALUES (1, 1.5), (2, 2.5)",
  "INSERT INTO spot_map VALUES (1, 1.5, 1.5)",
  "CREATE TRIGGER map_new AFTER INSERT ON spots BEGIN INSERT INTO spot_map VALUES (new.id, new.x, new.x); END",
  "CREATE TRIGGER map_moved AFTER UPDATE ON spots BEGIN UPDATE spot_map SET min_x = new.x, max_x = new.x WHERE spot = new.id; END",
  "CREATE TRIGGER map_gone AFTER DELETE ON spots BEGIN DELETE FROM spot_map WHERE spot = old.id; END",
  "CREATE VIRTUAL TABLE site_map USING rtree_i32(id, min_x, max_x)",
  "INSERT INTO sites (id, x) VALUES (1, 1.5)",
  "INSERT INTO site_map VALUES (1, 1, 1)",
  "CREATE TRIGGER map_site AFTER UPDATE OF x ON sites WHEN new.x > 2 BEGIN UPDATE site_map SET max_x = new.x WHERE id = old.id; END",
];

const single = `
key GET /api/messages/1
  200  1 0 1  the row, by its key
key GET /api/messages/99
  404  0 0 0  the key leads to no row
ada GET /api/messages/4
  200  2 0 1  the row, and her membership in room 2
ada GET /api/messages/9
  403  1 0 0  the row; the membership looked for in room 3 is not there
ada GET /api/messages/12
  403  1 0 0  the row; it is in no room, so that no membership is found
bob GET /api/rooms/2
  200  2 0 1  the room, and his membership, looked up although he owns the room
bob GET /api/rooms/4
  403  1 0 0  the room; nobody owns it and he is not a member
bob GET /api/rooms/9
  404  0 0 0  no room, and no membership either
ada GET /api/members/_svc/key?room=2&user=ada
  200  1 0 1  the row, by its key of two columns
ada GET /api/members/_svc/key?room=2&user=bob
  403  1 0 0  the row, which is another person's
ada GET /api/reports/1
  200  2 0 1  the report, and her place among the staff
bob GET /api/reports/1
  403  1 0 0  the report, which tells 403 from 404; he is not on the staff
ada GET /api/reports/99
  404  0 0 0  the key leads to no row, for which nothing has to be decided
ada GET /api/notices/1
  200  ? 0 1  no index leads to rooms by name: how far it was read is unknown
`;

const lists = `
key GET /api/messages
  200  24 0 12  12 for total, 12 for the page
key GET /api/messages?limit=5
  200  18 0 5  12 for total; 5, and 1 that tells there is a next page
key GET /api/messages?limit=12
  200  24 0 12  12 for total; 12 for the page, and no row tells of a next one
key GET /api/messages?limit=5&offset=5
  200  23 0 5  12 for total; 5 passed over, 5, and 1 more
key GET /api/messages?limit=5&offset=10
  200  24 0 2  12 for total; 10 passed over, and the last 2
key GET /api/messages?limit=5&offset=50
  200  24 0 0  12 for total; 12 passed over
key GET /api/messages?limit=5 page 2
  200  6 0 5  5 behind the fifth, and 1 more; total travels in the cursor
key GET /api/messages?limit=5 page 3
  200  2 0 2  the last 2
key GET /api/messages?sort=-id&limit=5
  200  18 0 5  12 for total; the key backwards, 5 and 1 more
key GET /api/messages?sort=body&limit=3
  200  24 0 3  12 for total; no index has the order: all 12 are sorted
key GET /api/messages?sort=body&limit=3&select=id
  200  24 0 3  the same 12, twice: which columns are asked for makes no difference
key GET /api/members?sort=-level&limit=2
  200  8 0 2  4 for total, 4 to sort; the 2 of the page, looked up again by their key, are among them
key GET /api/messages?where[id]=5
  200  2 0 1  the row for total, and the row
key GET /api/messages?where[id]=99
  200  0 0 0  the key leads to no row
key GET /api/messages?filter[id][gt]=9
  200  6 0 3  10, 11 and 12 by the key, twice
key GET /api/messages?filter[id][lt]=7&limit=2
  200  9 0 2  1 to 6 by the key; 2 and 1 more
key GET /api/messages?filter[id][in]=2,4,99
  200  4 0 2  two by the key, twice; the third is not there
key GET /api/messages?where[slug]=sixth
  200  2 0 1  the row by its unique index, twice
key GET /api/messages?where[room]=2
  200  10 0 5  the room's 5 through the index, twice
key GET /api/messages?where[room]=2&limit=2
  200  8 0 2  the room's 5 for total; 2 and 1 more
key GET /api/messages?where[room]=2&limit=2 page 2
  200  3 0 2  2 behind the second, and 1 more
key GET /api/messages?where[room]=2&limit=2 page 3
  200  1 0 1  the last of the room
key GET /api/messages?where[room]=2&sort=-id&limit=2
  200  8 0 2  5 for total; the index backwards, 2 and 1 more
key GET /api/messages?where[room]=2&sort=body&limit=2
  200  10 0 2  the room's 5 for total, and 5 to sort
key GET /api/messages?where[room]=9
  200  0 0 0  the index holds nothing for the room
key GET /api/messages?filter[room][is_null]=true
  200  2 0 1  the one without a room through the index, twice
key GET /api/messages?filter[room][in]=1,3&limit=2
  200  12 0 2  3 and 3 through the index, twice: a list of values keeps no order
key GET /api/messages?filter[room][in]=1,1
  200  6 0 3  the room's 3, twice: a value that is repeated leads nowhere else
key GET /api/messages?where[author]=ada&sort=likes&limit=2
  200  8 0 2  her 5 through the index for total; 2 and 1 more in its order
key GET /api/messages?where[author]=ada&limit=2
  200  10 0 2  her 5, twice: the index has them by likes, not by key
key GET /api/messages?where[author]=ada&filter[likes][gt]=1&limit=1
  200  6 0 1  3 of hers are over 1 in the index; they are sorted by key: 3 again
key GET /api/messages?where[room]=2&where[body]=lake&limit=1
  200  9 0 1  the room's 5 for total; 4, 5, 6 and 7, as 7 is the second lake
key GET /api/messages?filter[likes][gte]=4&limit=1
  200  18 0 1  12, as no index begins with likes; 1 to 6, as 6 is the second match
key GET /api/messages?filter[likes][gte]=4&limit=1 page 2
  200  6 0 1  4 to 9, as 9 is the match that tells there is a next page
key GET /api/messages?filter[body][contains]=oo&limit=5
  200  36 0 1  12 to measure the text that is searched; 12 for total, 12 for the page: only the last one matches
key GET /api/messages?filter[body][contains]=ke&limit=1
  200  31 0 1  12 to measure the text, 12 for total; 1 to 7, as 7 is the second match
key GET /api/messages?filter[body][contains]=ke&limit=1 page 2
  200  3 0 1  7 to 9, as 9 is the match that tells there is a next page; the text was measured for the first
key GET /api/messages?where[room]=2&filter[body][contains]=ke
  200  15 0 2  the room's 5 to measure the text, 5 for total, 5 for the page
key GET /api/messages?filter[body][contains]=ke&filter[author][contains]=b
  200  36 0 3  12 to measure both texts, 12 for total, 12 for the page
key GET /api/messages?filter[body][contains]=ke&sort=body&limit=2
  200  36 0 2  12 to measure the text, 12 for total, 12 to sort
key GET /api/messages?filter[body][contains]=ke&sort=body&limit=2 page 2
  200  24 0 2  12 to tell that they are few enough to sort; 12 to sort
ada GET /api/messages?where[room]=3&filter[body][contains]=ke
  200  0 0 0  no membership is found, and so no text is measured
ada GET /api/messages?filter[body][contains]=ke
  200  26 0 2  her 2 memberships; the 8 of their rooms to measure the text, 8 for total, 8 for the page
key GET /api/messages?filter[id][gt]=3&filter[id][lt]=8
  200  8 0 4  4 to 7 by the key, twice
key GET /api/messages?where[room]=2&where[author]=bob&limit=1
  200  8 0 1  both indexes serve one equality, and that of the room has the order: its 5; 4, 5 and 6
key GET /api/messages?where[room]=2&where[author]=bob&sort=likes&limit=1
  200  8 0 1  now that of the author has the order: his 6; his first 2, which are in the room
key GET /api/messages?sort=author,likes&limit=2
  200  15 0 2  12 for total; the index has the order: 2 and 1 more
key GET /api/messages?sort=-author,-likes&limit=2
  200  24 0 2  12 for total; backwards the index has ids descending, so that all 12 are sorted
key GET /api/messages?sort=-author,-likes,-id&limit=2
  200  15 0 2  12 for total; the index backwards: 2 and 1 more
key GET /api/messages?sort=body&limit=3 page 2
  200  24 0 3  12 to tell that they are few enough to sort; 12 to sort
key GET /api/messages?filter[room][in]=1,3&limit=2 page 2
  200  12 0 2  6 to tell that they are few enough to sort; 6 to sort
key GET /api/messages?sort=body&limit=1&offset=9999
  200  24 0 0  12 for total, 12 to sort, and all are passed over
key GET /api/messages?sort=body&limit=1&offset=10000
  400  - - -  too deep for an order that no index yields: refused before any row is looked at
key GET /api/messages?filter[room][in]=1,3&limit=1&offset=10000
  200  24 0 0  too deep to sort, so that the key is read, which has the order: 12 for total, 12 for the page
key GET /api/messages?nowhere=1
  400  - - -  refused before any row is looked at
ada GET /api/members
  200  4 0 2  her 2 by the index on user, twice: it leads to no order of the key
ada GET /api/messages
  200  18 0 8  her 2 memberships; the 8 messages of their rooms, twice
ada GET /api/messages?limit=3
  200  14 0 3  her 2 memberships; 8 for total; 3 and 1 more, in the order of the key in both rooms
ada GET /api/messages?limit=3 page 2
  200  6 0 3  her 2 memberships again; 3 and 1 more
ada GET /api/messages?limit=3 page 3
  200  4 0 2  her 2 memberships again; 7 and 8, the last of their rooms
ada GET /api/messages?limit=2&offset=2
  200  15 0 2  her 2 memberships; 8 for total; 2 passed over, 2 and 1 more
ada GET /api/messages?sort=body&limit=1
  200  18 0 1  her 2 memberships; 8 for total, 8 to sort
ada GET /api/messages?where[room]=2
  200  11 0 5  one membership for the request; the room's 5, twice
ada GET /api/messages?where[room]=2&limit=2 page 2
  200  4 0 2  her membership again; 2 and 1 more
ada GET /api/messages?where[room]=3
  200  0 0 0  no membership is found, and so no message is looked at
ada GET /api/messages?where[body]=lake
  200  18 0 2  her 2 memberships; the 8 of their rooms, twice, to find the two lakes
ada GET /api/messages?where[author]=ada&sort=likes&limit=1
  200  13 0 1  her 5 and 4 memberships, as she is not in room 3, for total; the first 2 and theirs
eve GET /api/messages
  200  0 0 0  she has no membership, and so no message is looked at
ada GET /api/rooms
  200  12 0 2  4 rooms and her 2 memberships, twice
bob GET /api/rooms?where[owner]=bob
  200  8 0 2  the rule holds for all that are his: 4 rooms, twice
ada GET /api/rooms?where[id]=2
  200  3 0 1  one membership for the request; the room, twice
ada GET /api/rooms?where[owner]=bob
  200  6 0 1  as the owner is bob, only memberships are left: her 2, and the 2 rooms, twice
bob GET /api/rooms?where[owner]=ada
  200  6 0 0  as the owner is ada, only memberships are left: his 2, and the 2 rooms, twice
eve GET /api/members?where[user]=ada
  200  0 0 0  no row of ada's can be eve's: none is looked at
ada GET /api/reports
  200  7 0 3  her place among the staff, once; 3 reports, twice
bob GET /api/reports
  200  0 0 0  he is not on the staff, and no report is looked at
ada GET /api/notices
  200  ? 0 1  no index leads to rooms by name
ada GET /api/profiles
  200  6 0 0  2 profiles and the one user whom one of them names, twice: she is found, and is no admin
key GET /api/notices
  200  4 0 2  a key bypasses the rule: 2, twice
`;

const writes = `
key POST /api/rooms {"name":"new"}
  201  0 1 1  nothing is read
ada POST /api/rooms {"owner":"ada"}
  201  0 1 1  its rule reads the new row alone; she is no member of the new room
ada POST /api/rooms {"owner":"bob"}
  403  0 0 0  the rule reads the new row alone
ada POST /api/messages {"room":1,"author":"ada"}
  201  2 1 1  her membership to write, and again to read what was written
ada POST /api/messages {"room":3,"author":"ada"}
  403  0 0 0  no membership in room 3 is found
ada POST /api/messages {"room":1,"author":"bob"}
  403  1 0 0  her membership, looked up although the author is wrong
key POST /api/messages {"slug":"first"}
  409  0 0 0  what UNIQUE looks up is not counted
ada POST /api/messages {"room":1,"author":"ada","slug":"first"}
  409  ? 0 0  the rule had looked a membership up when UNIQUE refused: the count is lost
key POST /api/messages {"room":9}
  409  0 0 0  what a reference looks up is not counted
key POST /api/papers {"doc":"[]"}
  400  0 0 0  the check refuses the new row alone
key POST /api/papers {"doc":"["}
  400  ? ? 0  SQLite gives up on the check, which is counted like a storage that failed: nothing is known
key POST /api/tasks {"id":1}
  409  ? 0 0  the table has a trigger: what it had read when the key was refused is not told
bob POST /api/reports {"body":"d"}
  201  0 1 1  he may write and not read: the key alone comes back, which counts as a row
key PATCH /api/messages/1 {"body":"x"}
  200  1 1 1  the row
key PATCH /api/messages/99 {"body":"x"}
  404  0 0 0  the key leads to no row
key PATCH /api/messages/1 {"slug":"sixth"}
  409  1 0 0  the row was looked at before UNIQUE refused
key PATCH /api/messages/1 {"room":9}
  409  1 0 0  the row was looked at before the reference refused
key PATCH /api/messages/1 {"body":"kite"}
  200  1 1 1  the row; that it holds the same text already makes it no less of a write
ada PATCH /api/messages/1 {"body":"x"}
  200  2 1 1  the row, and her membership to read what was written
ada PATCH /api/messages/11 {"body":"x"}
  200  1 1 1  the row; she finds no membership in room 3 to read it with, and gets the key
ada PATCH /api/messages/2 {"body":"x"}
  403  2 0 0  the row, which is not hers, and again to tell 403 from 404
ada PATCH /api/messages/99 {"body":"x"}
  404  0 0 0  the key leads to no row
ada PATCH /api/messages/1 {"author":"bob"}
  403  2 0 0  the row, which would no longer be hers, and again to tell 403 from 404
ada PATCH /api/messages/1 {"slug":"sixth"}
  409  ? 0 0  the rule to read what was written has an exists: whether it was asked by then is not told
ada PATCH /api/messages/1 {"room":9}
  409  ? 0 0  the same, for a reference, which is checked after that rule
ada PATCH /api/drafts/1 {"body":"y"}
  200  3 1 1  the draft; her membership once, as the room stays; and to read what was written
ada PATCH /api/drafts/1 {"room":2}
  200  4 1 1  the draft; her memberships in rooms 1 and 2; that in 2 again to read what was written
ada PATCH /api/drafts/1 {"room":3}
  403  3 0 0  the draft, her membership in room 1 and none in 3; the draft to tell 403 from 404
ada PATCH /api/drafts/2 {"body":"x"}
  403  2 0 0  the draft, no membership in room 4, and the draft again to tell 403 from 404
ada PATCH /api/drafts/2 {"room":1}
  403  3 0 0  the draft, no membership in room 4 but one in 1, and the draft again to tell 403 from 404
bob PATCH /api/members/_svc/key?room=2&user=bob {"level":2}
  200  2 1 1  the row, and the room that he owns; it is his to read
bob PATCH /api/members/_svc/key?room=2&user=ada {"level":2}
  200  2 1 1  the row, and the room that he owns; only the key comes back
ada PATCH /api/members/_svc/key?room=2&user=ada {"level":2}
  403  3 0 0  the row, the room, which is bob's, and the row again to tell 403 from 404
key DELETE /api/messages/12
  200  1 1 1  the row; its key comes back
key DELETE /api/messages/99
  404  0 0 0  the key leads to no row
bob DELETE /api/messages/4
  200  2 1 1  the row, and the room that he owns
ada DELETE /api/messages/4
  403  3 0 0  the row, the room, which is bob's, and the row again to tell 403 from 404
ada DELETE /api/messages/12
  403  2 0 0  the row, which is in no room, and again to tell 403 from 404
key DELETE /api/rooms/1
  409  1 0 0  the room; a member holds it, and what the reference looks up is not counted
key DELETE /api/rooms/4
  200  1 3 1  the room; two drafts are set to no room: written, not read
key POST /api/tasks {"state":"open"}
  201  0 3 1  nothing is read; the task, and two rows of its trigger
key POST /api/tasks {"state":"shut"}
  201  0 1 1  nothing is read; the trigger's WHEN does not hold
key DELETE /api/tasks/1
  200  ? 1 1  a trigger that holds a SELECT may run: that its WHEN does not hold is not looked at
key DELETE /api/tasks/2
  400  ? 0 0  the trigger runs and refuses; what it reads is unknown
key POST /api/counted {"size":0}
  201  ? 4 1  what the trigger's UPDATE reads is unknown; it writes 3, beside the new row
key PATCH /api/profiles/1 {"bio":"x"}
  200  ? 1 1  a trigger that holds a SELECT may run: that it is for another column is not looked at
key PATCH /api/profiles/1 {"person":"bob"}
  200  ? 1 1  the trigger runs, and what its SELECT reads is unknown
key DELETE /api/logged/1
  200  ? 5 1  its trigger inserts into a table with such a trigger; 1 deleted, 1 inserted, 3 changed
ada DELETE /api/reports/1
  403  - - -  no rule lets anybody delete: refused before any row is looked at
key POST /api/pages {"body":"words"}
  201  0 2 1  the page, and one row of the full-text index, whatever that keeps for itself
key POST /api/spots {"x":3}
  201  0 2 1  the spot, and one row of the R*Tree, whatever that keeps for itself
key PATCH /api/spots/1 {"x":3}
  200  ? 2 1  the spot, and its row of the R*Tree, which is found by its first column, its rowid
key PATCH /api/spots/2 {"x":3}
  200  ? 1 1  the spot, which has no row in the R*Tree
key DELETE /api/spots/1
  200  ? 2 1  the spot, and its row of the R*Tree
key PATCH /api/sites/1 {"x":3}
  200  ? 2 1  the site, and its row of the R*Tree
key PATCH /api/sites/1 {"x":2}
  200  ? 1 1  the site; the WHEN of the trigger does not hold
`;

const aggregates = `
key GET /api/messages/_svc/aggregate?count=*
  200  12 0 1  each of the 12 once; the one row of the answer is returned
key GET /api/messages/_svc/aggregate?count=*&group=author
  200  12 0 3  12; ada, bob and eve are returned
key GET /api/messages/_svc/aggregate?count=*&group=author&limit=2
  200  12 0 2  12, whatever the page: nothing is known of a group before all of it is read
key GET /api/messages/_svc/aggregate?count=*&group=author&limit=2 page 2
  200  12 0 1  all 12 again, for the third group
key GET /api/messages/_svc/aggregate?group=body&min=author&count_distinct=author,room&sort=-min_author
  200  12 0 4  12; kite, lake, moon and tree
key GET /api/messages/_svc/aggregate?sum=likes&where[room]=2
  200  5 0 1  the room's 5 through the index
key GET /api/messages/_svc/aggregate?sum=likes&where[room]=9
  200  0 0 1  the index holds nothing for the room; a row of null is returned
key GET /api/messages/_svc/aggregate?sum=likes&group=author&where[room]=9
  200  0 0 0  the index holds nothing for the room, and so there is no group
key GET /api/messages/_svc/aggregate?count=*&filter[room][in]=1,3
  200  6 0 1  3 and 3 through the index
key GET /api/messages/_svc/aggregate?count=*&filter[likes][gte]=4
  200  12 0 1  12, as no index begins with likes
key GET /api/messages/_svc/aggregate?count=*&where[author]=ada&filter[likes][gt]=1
  200  3 0 1  3 of hers are over 1 in the index
key GET /api/messages/_svc/aggregate?count=*&filter[author][gt]=ada
  200  7 0 1  bob's 6 and eve's through the index: a list would read the key for its order, and there is none here
key GET /api/messages/_svc/aggregate?count=*&filter[body][contains]=ke
  200  24 0 1  12 to measure the text that is searched, and 12
ada GET /api/messages/_svc/aggregate?count=*
  200  10 0 1  her 2 memberships lead to rooms 1 and 2, which have 3 and 5
ada GET /api/messages/_svc/aggregate?count=*&group=room
  200  10 0 2  the same; rooms 1 and 2 are returned
ada GET /api/messages/_svc/aggregate?count=*&where[room]=2
  200  6 0 1  one membership for the request; the room's 5
ada GET /api/messages/_svc/aggregate?count=*&where[room]=3
  200  0 0 1  no membership is found, and so no message is looked at
ada GET /api/messages/_svc/aggregate?count=*&where[body]=lake
  200  10 0 1  the same 2 and 8: the body is tested of each
ada GET /api/rooms/_svc/aggregate?count=*
  200  6 0 1  4 rooms and her 2 memberships
ada GET /api/members/_svc/aggregate?count=*
  200  2 0 1  her 2 by the index on user
ada GET /api/reports/_svc/aggregate?count=*
  200  4 0 1  her place among the staff, once; 3 reports
bob GET /api/reports/_svc/aggregate?count=*
  200  0 0 1  he is not on the staff, and no report is looked at
ada GET /api/notices/_svc/aggregate?count=*
  200  ? 0 1  no index leads to rooms by name
eve GET /api/members/_svc/aggregate?count=*&where[user]=ada
  200  0 0 1  no row of ada's can be eve's: none is looked at
key GET /api/messages/_svc/aggregate?median=likes
  400  - - -  refused before any row is looked at
`;

const expansions = `
key GET /api/messages?where[id]=1&expand=room
  200  3 0 1  the row, twice; its room
key GET /api/messages?expand=room
  200  27 0 12  12, twice; the 3 rooms that they are in, each once
key GET /api/messages?limit=2&expand=room
  200  16 0 2  12 for total; 2 and 1 more; the room of the 2
key GET /api/messages?where[id]=12&expand=room
  200  2 0 1  the row, twice; it is in no room
ada GET /api/messages?limit=1&expand=room
  200  14 0 1  her 2 memberships, 8 for total, 1 and 1 more; the room, and her membership that its rule looks up
ada GET /api/messages?where[id]=5&expand=room
  200  6 0 1  the row and her membership, twice; the room and her membership for its own rule
key GET /api/messages?where[id]=1&expand=room.messages.room
  200  6 0 1  the row, twice; its room; the 3 messages of that
key GET /api/rooms?where[id]=2&expand=messages.room
  200  7 0 1  the room, twice; its 5 messages through the index
key GET /api/rooms?where[id]=2&expand[messages.room][limit]=2
  200  4 0 1  the room, twice; 2 messages in the order of the index
key GET /api/rooms?where[id]=2&expand[messages.room][limit]=2&expand[messages.room][sort]=body
  200  7 0 1  the room, twice; all 5 messages, to sort them
key GET /api/rooms?where[id]=2&expand[messages.room][limit]=1&expand[messages.room][count]=true
  200  7 0 1  the room, twice; all 5 messages, to count them
ada GET /api/rooms?expand[messages.room][limit]=1
  200  16 0 2  4 rooms and her 2 memberships, twice; of each of the 2 rooms the first message and her membership
bob GET /api/rooms?where[id]=1&expand=messages.room
  200  2 0 0  the room, twice, which he may not see: no message of it is looked at
eve GET /api/rooms?expand=messages.room
  200  8 0 0  4 rooms, twice, none of which is hers
key GET /api/rooms?expand=drafts.room
  400  - - -  no index leads to drafts by room: refused before any row is looked at
key GET /api/messages?filter[$or][0][room][eq]=1&filter[$or][1][author][eq]=eve
  200  8 0 4  the room's 3 and eve's 1, each through an index, twice
key GET /api/shelves?sort=place&expand=books.shelf
  200  7 0 2  2 shelves, twice, to sort them; the 3 books that are on them, through the index
key GET /api/books?search=hen&expand=shelf
  200  6 0 2  2 match, twice; their 2 shelves
key GET /api/books?search=red
  200  6 0 3  3 have a word that begins so, twice, as they are sorted
ada GET /api/books?search=red
  200  6 0 1  the same 3, twice, of which one is hers: few match, so that all are looked up
`;

/** Under a scan limit of 5. */
const windows = `
key GET /api/messages?limit=2
  200  15 0 2  12 for total, as a count of all is not limited; 2 and 1 more
key GET /api/messages?limit=10
  200  23 0 5  12 for total; the window's 5; these and the sixth, to know where the next window begins
key GET /api/messages?limit=10 page 2
  200  11 0 5  6 to 10; these and 11, to know where the next window begins
key GET /api/messages?limit=10 page 3
  200  2 0 2  11 and 12: fewer than a window
key GET /api/messages?limit=2&offset=8
  200  23 0 0  12 for total; the window's 5 are passed over; these and the sixth to find its end
key GET /api/messages?limit=2&offset=8 page 2
  200  11 0 2  6, 7 and 8 are passed over, and 9 and 10; these and 11 to find the window's end
key GET /api/messages?filter[likes][gte]=4&limit=1
  200  16 0 1  the window's 5 for total, 5 for the page, of which one matches; 6 to find the window's end
key GET /api/messages?where[room]=2&limit=2
  200  13 0 2  the room's 5 for total; 2 and 1 more; 5 to see that no sixth comes behind the window
key GET /api/messages?where[room]=1&limit=2
  200  6 0 2  the room's 3 for total; 2 and 1 more: fewer than a window
key GET /api/messages?where[author]=bob&sort=body
  400  6 0 0  his sixth tells that there are too many to sort
key GET /api/messages?where[author]=bob&sort=-id&limit=2
  200  22 0 2  his sixth tells that there are too many to sort; by the key the window's 5 for total, 5 for the page, 6 to find its end
key GET /api/messages?filter[body][contains]=none
  200  21 0 0  the window's 5 to measure the text, 5 for total, 5 for the page; these and the sixth to find its end
key GET /api/messages?filter[body][contains]=none page 2
  200  21 0 0  the same for 6 to 10, and 11
key GET /api/messages?filter[body][contains]=none page 3
  200  6 0 0  11 and 12 to measure the text, for total, and for the page
key GET /api/messages?sort=body&filter[body][contains]=none
  400  12 0 0  6 to measure the text; again the sixth tells that there are too many to sort
ada GET /api/messages?limit=10
  200  26 0 5  her 2 memberships and 4 messages of their rooms, one too many; the 2 again, 5 messages for total, 5 for the page; the 2 and 6 messages to find the window's end
key GET /api/messages?sort=body
  400  6 0 0  the sixth tells that there are too many to sort
key GET /api/messages?where[room]=2&sort=body&limit=2
  200  10 0 2  the room's 5 just fit: 5 for total, 5 to sort
key GET /api/messages/_svc/aggregate?count=*
  400  6 0 0  the sixth tells that there are too many
key GET /api/messages/_svc/aggregate?count=*&where[room]=2
  200  5 0 1  the room's 5 just fit
ada GET /api/messages/_svc/aggregate?count=*
  400  18 0 0  her 2 memberships leave 3, and a fourth message comes; then by the table 6, and a membership for each of them
key GET /api/messages/_svc/aggregate?count=*&filter[body][contains]=none
  400  12 0 0  6 to measure the text, and the same 6
`;

async function serveRows(settings: string): Promise<TestServer> {
  const server = await serve({ schema, config: settings + config });
  await server.database.batch(rows.map((sql) => ({ sql, params: [] })));
  // The server looks at triggers again where the schema has another version.
  await run(server, "INSERT INTO _schema SELECT version + 1, hash, text, applied_at FROM _schema");
  return server;
}

it.each([
  ["single rows", single, ""],
  ["lists", lists, ""],
  ["aggregates", aggregates, ""],
  ["what is expanded or searched", expansions, ""],
  ["what meets the scan limit", windows, "[api]\nscan_limit = 5\n"],
])("%s", async (_, cases, settings) => {
  await expectOutcomes(await serveRows(settings), cases);
});

describe("a write", () => {
  it.each(casesOf(writes).map((one) => [one.name, one] as const))("%s", async (_name, one) => {
    expect(await askerOf(await serveRows(""))(one), one.why).toEqual(one.outcome);
  });
});
