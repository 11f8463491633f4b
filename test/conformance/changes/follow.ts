import { expect } from "vitest";
import type { Random } from "../../property/support/random.js";
import { type Client, client, dataOf } from "../../support/client.js";
import { apply, idOf, NotFollowedError, type Pulled, type Rows, sorted } from "../../support/copy.js";
import { member } from "../../support/people.js";
import { apiKey, serve, type TestProject, type TestServer } from "../../support/server.js";

export const schema = `
$history: forever
rooms:
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text }
    open: { type: boolean, not_null: true, default: false }
  indexes: [{ columns: [owner] }]
members:
  primary_key: [room_id, user_id]
  columns:
    room_id: { type: integer, references: { table: rooms, on_delete: cascade } }
    user_id: { type: text }
  indexes: [{ columns: [user_id] }]
bans:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, references: { table: rooms, on_delete: set_null } }
    user_id: { type: text }
  indexes: [{ columns: [room_id, user_id] }]
messages:
  columns:
    id: { type: text, primary_key: true }
    room_id: { type: integer, references: { table: rooms, on_delete: cascade } }
    author: { type: text }
    body: { type: text }
    secret: { type: integer }
  indexes: [{ columns: [room_id] }]
reactions:
  columns:
    id: { type: integer, primary_key: true }
    message_id: { type: text, references: { table: messages, on_delete: cascade } }
    at: { type: real }
  indexes: [{ columns: [message_id] }]
staff: { columns: { user_id: { type: text, primary_key: true }, note: { type: text } } }
notes: { columns: { id: { type: integer, primary_key: true }, owner: { type: text }, b: { type: blob } } }
`;

const isMember = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)";
/** Rules of every kind that a log can follow. */
export const config = (scanLimit: number) => `
usage.enabled = false
api.scan_limit = ${scanLimit}
[rules.rooms]
read = "row.open or row.owner = auth.id or exists(members m where m.room_id = row.id and m.user_id = auth.id)"
[rules.members]
read = "row.user_id = auth.id"
[rules.messages]
read = "row.author = auth.id or (${isMember} and not exists(bans b where b.room_id = row.room_id and b.user_id = auth.id))"
[rules.messages.columns.secret]
read = "auth.role = 'admin'"
[rules.reactions]
read = "exists(messages x where x.id = row.message_id and (x.author = auth.id or x.body = 'to all') and exists(members m where m.room_id = x.room_id and m.user_id = auth.id))"
[rules.notes]
read = "row.owner = auth.id or exists(staff s where s.user_id = auth.id)"
`;

const told = ["rooms", "members", "messages", "reactions", "notes"] as const;
const people = ["ann", "ben"];
const someone = (random: Random) => random.pick(["'ann'", "'ben'", "'cid'", "NULL"]);

function randomWrite(random: Random): string {
  const room = () => random.int(1, 4);
  const message = () => `'m${random.int(1, 9)}'`;
  return random.pick([
    () => `INSERT OR IGNORE INTO rooms (id, owner, open) VALUES (${room()}, ${someone(random)}, ${random.int(0, 1)})`,
    () => `UPDATE rooms SET open = 1 - open WHERE id = ${room()}`,
    () => `UPDATE rooms SET owner = ${someone(random)} WHERE id = ${room()}`,
    () => `DELETE FROM rooms WHERE id = ${room()}`,
    () => `INSERT OR IGNORE INTO members SELECT id, ${random.pick(["'ann'", "'ben'"])} FROM rooms WHERE id = ${room()}`,
    () => `DELETE FROM members WHERE room_id = ${room()} AND user_id = ${random.pick(["'ann'", "'ben'"])}`,
    () => `UPDATE OR IGNORE members SET room_id = (SELECT max(id) FROM rooms) WHERE room_id = ${room()}`,
    () =>
      `INSERT OR IGNORE INTO bans (id, room_id, user_id) SELECT ${random.int(1, 5)}, id, ${random.pick(["'ann'", "'ben'"])} FROM rooms WHERE id = ${room()}`,
    () => `DELETE FROM bans WHERE id = ${random.int(1, 5)}`,
    () =>
      `INSERT OR IGNORE INTO messages SELECT ${message()}, id, ${someone(random)}, ${random.pick(["'a'", "'to all'"])}, 1 FROM rooms WHERE id = ${room()}`,
    () =>
      `INSERT OR IGNORE INTO messages SELECT 'm' || value, (SELECT min(id) FROM rooms), ${someone(random)}, 'many', value FROM json_each('[1,2,3,4,5,6]')`,
    () => `UPDATE messages SET body = ${random.pick(["'b'", "'to all'", "NULL"])} WHERE id = ${message()}`,
    () =>
      `UPDATE messages SET room_id = (SELECT id FROM rooms ORDER BY id LIMIT 1 OFFSET ${random.int(0, 2)}) WHERE id = ${message()}`,
    () => `UPDATE messages SET secret = secret + 1 WHERE id > ${message()}`,
    () =>
      `UPDATE OR IGNORE messages SET id = ${message()} WHERE id = ${message()} AND NOT EXISTS (SELECT 1 FROM reactions WHERE message_id = messages.id)`,
    () => `DELETE FROM messages WHERE id = ${message()}`,
    () =>
      `INSERT OR IGNORE INTO reactions SELECT ${random.int(1, 9)}, id, 1.0 / 3 FROM messages WHERE id = ${message()}`,
    () => `UPDATE reactions SET at = ${random.pick(["0.1 + 0.2", "NULL", "1e300"])} WHERE id = ${random.int(1, 9)}`,
    () => `INSERT OR IGNORE INTO staff VALUES (${random.pick(["'ann'", "'ben'"])}, NULL)`,
    () => `DELETE FROM staff WHERE user_id = ${random.pick(["'ann'", "'ben'"])}`,
    () => `INSERT OR IGNORE INTO notes VALUES (${random.int(1, 6)}, ${someone(random)}, x'1761')`,
    () => `UPDATE notes SET b = ${random.pick(["x''", "x'00ff'", "NULL"])} WHERE id = ${random.int(1, 6)}`,
    () => `DELETE FROM notes WHERE id = ${random.int(1, 6)}`,
  ])();
}

/** A random change, by a request or by another program, which may fail. */
export async function write(server: TestServer, key: Client, random: Random): Promise<void> {
  if (random.chance(0.2)) {
    const id = `m${random.int(1, 9)}`;
    await (random.chance(0.5)
      ? key.patch(`/api/messages/${id}`, { body: random.pick(["by a request", "to all"]) })
      : key.delete(`/api/messages/${id}`));
    return;
  }
  const statements = random.times(random.int(1, 3), () => ({ sql: randomWrite(random), params: [] }));
  // It fails, and the whole batch is rolled back.
  if (random.chance(0.1)) statements.push({ sql: "INSERT INTO rooms (id) VALUES ('no number')", params: [] });
  await server.database.batch(statements).catch(() => undefined);
}

/** What a client follows under a name: rows of the table of that name, or of another one. */
interface Terms {
  readonly table?: string;
  readonly filter?: object;
}
type Members = Readonly<Record<string, Terms>>;

/** The rows that lists show to a caller, by the member's name and key. */
export async function shown(caller: Client, asked: Members): Promise<Rows> {
  const rows: Rows = new Map();
  for (const [name, { table = name, ...terms }] of Object.entries(asked)) {
    let body: object = { ...terms, limit: 1000, total: "none" };
    for (;;) {
      const answer = await caller.post(`/api/${table}/_svc/query`, body);
      for (const row of dataOf(answer) as Record<string, unknown>[]) rows.set(idOf(name, keyOf(table, row)), row);
      const { next_cursor: cursor } = (answer.body as { meta: { next_cursor?: string } }).meta;
      if (cursor === undefined) break;
      body = { cursor };
    }
  }
  return rows;
}

const termsOf = (table: string, random: Random): Terms =>
  table === "messages" && random.chance(0.3) ? { filter: { body: { ne: "b" } } } : {};

/** Drops a member, asks for another, or for something else under a name. At least one stays. */
function otherMembers(asked: Members, random: Random): Members {
  const names = Object.keys(asked);
  const name = random.pick(names);
  const table = random.pick(told);
  return random.pick([
    () => (names.length === 1 ? asked : Object.fromEntries(Object.entries(asked).filter(([its]) => its !== name))),
    () => ({ ...asked, [`more${random.int(1, 3)}`]: { table, ...termsOf(table, random) } }),
    () => ({ ...asked, [name]: { table, ...termsOf(table, random) } }),
  ])();
}

function clear(rows: Rows, name: string): void {
  for (const id of rows.keys()) if (id.startsWith(`${name} `)) rows.delete(id);
}

const keyOf = (table: string, row: Record<string, unknown>): object =>
  table === "members" ? { room_id: row.room_id, user_id: row.user_id } : { id: row.id };

/** How long a run is, and how the server is changed for it. */
export interface Run {
  readonly histories: number;
  readonly pulls: number;
  readonly scanLimit: number;
  /** Whether the client goes over to other members, between rounds and in the midst of them. */
  readonly changing?: boolean;
  readonly project?: Partial<TestProject>;
  readonly before?: (server: TestServer) => Promise<void>;
}

/** How many pages were pulled, and what they told. */
export interface Followed {
  pages: number;
  insert: number;
  update: number;
  remove: number;
}

/**
 * Lets clients pull in pages of any size while others write between the pages. Fails where a client that has pulled a whole
 * round does not hold exactly what lists showed when the round began (or, where members began in it, at one moment until
 * its end), where it is told what it has, or of a removal of what it has not.
 */
export async function follow(
  random: Random,
  { histories, pulls, scanLimit, changing = false, project, before }: Run,
): Promise<Followed> {
  const server = await serve({ schema, config: config(scanLimit), ...project });
  await before?.(server);
  const key = client(server, await apiKey(server, "project:backend"));
  const callers = await Promise.all(people.map(async (id) => client(server, (await member(server, id)).bearer)));
  const counts: Followed = { pages: 0, insert: 0, update: 0, remove: 0 };
  for (let history = 0; history < histories; history++) {
    const caller = random.pick([...callers, ...callers, key]);
    const rows: Rows = new Map();
    let checkpoint: string | null = null;
    let tables: Members = Object.fromEntries(
      told
        .filter((table) => table === "messages" || random.chance(0.8))
        .map((table) => [table, termsOf(table, random)]),
    );
    /** Members of which pages of a new whole have come, but not the last one. */
    const begun = new Set<string>();
    /** What lists have shown since the round began, at each moment. */
    let moments: Rows[] = [];
    const goOver = () => {
      const other = otherMembers(tables, random);
      const form = (members: Members, name: string) =>
        members[name] && JSON.stringify([members[name].table ?? name, members[name].filter]);
      const gone = Object.keys(tables).filter((name) => form(tables, name) !== form(other, name));
      for (const name of gone) {
        begun.delete(name);
        for (const held of [rows, ...moments]) clear(held, name);
      }
      tables = other;
    };
    for (let pull = 0; pull < pulls; pull++) {
      const at = { history, pull };
      if (changing && random.chance(0.3)) goOver();
      // A round in which members begin may be of any moment until its last page, and any other is of the one at which it
      // began.
      moments = [await shown(caller, tables)];
      let isFresh = false;
      for (;;) {
        const limit = random.pick([1, 2, 3, 7, 500]);
        const answer = await caller.post("/api/_svc/pull", { tables, checkpoint, limit });
        const page = dataOf(answer) as unknown as Pulled;
        expect({ ...at, reset: page.reset }).toEqual({ ...at, reset: null });
        expect(page.changes.length).toBeLessThanOrEqual(limit);
        for (const name of page.fresh ?? []) {
          isFresh = true;
          if (!begun.has(name)) clear(rows, name);
          begun.add(name);
        }
        const wrong = apply(rows, page.changes);
        if (wrong !== null) throw new NotFollowedError(`${JSON.stringify(at)}: ${wrong}`);
        counts.pages++;
        for (const { op } of page.changes) counts[op]++;
        checkpoint = page.checkpoint;
        if (!page.more) break;
        const goesOver = changing && random.chance(0.1);
        if (goesOver) goOver();
        const writes = random.chance(0.4);
        if (goesOver || writes) moments.push(await shown(caller, tables));
        if (!writes) continue;
        await write(server, key, random);
        moments.push(await shown(caller, tables));
      }
      begun.clear();
      const has = sorted(rows);
      const seen = moments.map(sorted);
      const sees = seen[0]!;
      const isOfOne = (isFresh ? seen : [sees]).some((each) => each.join("\n") === has.join("\n"));
      const only = (of: readonly string[], not: readonly string[]) => of.filter((row) => !not.includes(row)).join("\n");
      if (!isOfOne)
        throw new NotFollowedError(
          `${JSON.stringify(at)}: has\n${only(has, sees)}\nand lists show\n${only(sees, has)}`,
        );
      for (let writes = random.int(0, 8); writes > 0; writes--) await write(server, key, random);
    }
  }
  return counts;
}
