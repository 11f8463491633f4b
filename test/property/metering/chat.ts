import type { Database, ResultValue } from "../../../src/platform/database.js";
import { member } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";
import type { Filter } from "../support/evaluate.js";
import { insertRows } from "../support/insert-rows.js";
import type { Random } from "../support/random.js";
import type { Row, Value } from "../support/values.js";
import type { OracleTable, OracleWay, Term } from "./oracle.js";

const schema = `
rooms:
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text }
    name: { type: text }
  indexes: [{ columns: [owner] }]
members:
  primary_key: [room, user]
  columns: { room: { type: integer }, user: { type: text }, level: { type: integer } }
  indexes: [{ columns: [user, -level] }]
messages:
  columns:
    id: { type: integer, primary_key: true }
    room: { type: integer }
    author: { type: text }
    n: { type: integer }
    slug: { type: text, unique: true }
  indexes: [{ columns: [room] }, { columns: [author, n] }, { columns: [-n] }, { columns: [room, -n] }]
loose:
  columns: { id: { type: text, primary_key: true }, grp: { type: text }, n: { type: integer } }
`;

const config = `
[rules.rooms]
read = "row.owner = auth.id or exists(members m where m.room = row.id and m.user = auth.id)"
create = "new.owner = auth.id"
update = "row.owner = auth.id"
delete = "row.owner = auth.id"
[rules.members]
read = "row.user = auth.id"
create = "exists(rooms r where r.id = new.room and r.owner = auth.id)"
update = "exists(rooms r where r.id = row.room and r.owner = auth.id)"
delete = "row.user = auth.id"
[rules.messages]
read = "exists(members m where m.room = row.room and m.user = auth.id)"
create = "new.author = auth.id and exists(members m where m.room = new.room and m.user = auth.id)"
update = "row.author = auth.id"
delete = "exists(rooms r where r.id = row.room and r.owner = auth.id)"
[rules.loose]
read = "exists(rooms r where r.name = row.grp)"
create = "authenticated"
update = "row.n > 0"
delete = "row.n > 0"
[rules.rooms.columns.id]
write = "public"
[rules.messages.columns.id]
write = "public"
`;

export type TableName = "rooms" | "members" | "messages" | "loose";

export interface Person {
  /** Null for a key, which bypasses rules. */
  readonly id: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Chat {
  readonly server: TestServer;
  readonly tables: Readonly<Record<TableName, OracleTable>>;
  readonly people: readonly Person[];
}

const names = ["ada", "bob", "eve"];

export async function serveChat(random: Random, target?: string, settings = ""): Promise<Chat> {
  const server = await serve({ schema, config: settings + config }, target);
  const people: Person[] = [];
  for (const id of names) people.push({ id, headers: { ...(await member(server, id)).bearer } });
  people.push({ id: null, headers: await apiKey(server, "project:backend") });
  const integer = (low: number, high: number) => BigInt(random.int(low, high));
  const maybe = <T>(value: T) => (random.chance(0.2) ? null : value);
  const rooms = random.times(
    12,
    (i): Row => ({
      id: BigInt(i + 1),
      owner: maybe(random.pick(names)),
      name: random.pick(["g1", "g2", "x"]),
    }),
  );
  const members = names.flatMap((user) =>
    random.some(rooms, 5).map(({ id }): Row => ({ room: id!, user, level: maybe(integer(0, 3)) })),
  );
  const messages = random.times(
    150,
    (i): Row => ({
      id: BigInt(i * 2 + 1),
      room: maybe(integer(1, 14)),
      author: maybe(random.pick(names)),
      n: maybe(integer(-3, 6)),
      slug: maybe(`s${i}`),
    }),
  );
  const loose = random.times(
    40,
    (i): Row => ({ id: `k${i}`, grp: maybe(random.pick(["g1", "g2", "g3"])), n: maybe(integer(-1, 3)) }),
  );
  const rows: Record<TableName, Row[]> = { rooms, members, messages, loose };
  for (const [name, list] of Object.entries(rows)) await insertRows(server.database, name, list);
  const tables = Object.fromEntries(
    await Promise.all(
      Object.entries(rows).map(async ([name, list]) => [name, await described(server.database, name, list)]),
    ),
  ) as Record<TableName, OracleTable>;
  return { server, tables, people };
}

/** What the database says of its indexes. */
async function described(database: Database, name: string, rows: Row[]): Promise<OracleTable> {
  const [indexes, columns] = await database.query([
    {
      sql: `SELECT i.name AS name, x.name AS col, x."desc" AS descending, i."unique" AS uniq
        FROM pragma_index_list('${name}') i JOIN pragma_index_xinfo(i.name) x WHERE x.key = 1 ORDER BY i.name, x.seqno`,
      params: [],
    },
    { sql: `SELECT name, type, pk FROM pragma_table_info('${name}') ORDER BY cid`, params: [] },
  ]);
  const byName = new Map<string, (readonly ResultValue[])[]>();
  for (const row of indexes!.rows) byName.set(row[0] as string, [...(byName.get(row[0] as string) ?? []), row]);
  const key = columns!.rows
    .filter(([, , pk]) => (pk as number) > 0)
    .sort((a, b) => (a[2] as number) - (b[2] as number));
  const isAlias = key.length === 1 && key[0]![1] === "INTEGER";
  return {
    columns: columns!.rows.map(([column]) => column as string),
    primaryKey: key.map(([column]) => column as string),
    rowidAlias: isAlias ? (key[0]![0] as string) : null,
    indexes: [...byName.values()].map((terms) => ({
      unique: terms[0]![3] === 1,
      columns: terms.map(([, column, descending]) => ({
        name: column as string,
        descending: descending === 1,
      })),
    })),
    rows,
  };
}

const isMember = ({ tables }: Chat, room: Value, user: string) =>
  tables.members.rows.some((row) => row.room === room && room !== null && row.user === user);
/** The way from a person to rows of the rooms that they are a member of. */
function byMembership({ tables }: Chat, column: string, id: string): OracleWay {
  const own = tables.members.rows.filter(({ user }) => user === id);
  return { column, values: own.map(({ room }) => room!), links: own.length };
}
const roomOf = ({ tables }: Chat, id: Value) => tables.rooms.rows.find((row) => row.id === id && id !== null);

/** What a lookup in members by its whole key visits. */
const membership = (chat: Chat, room: Value, user: string) => Number(isMember(chat, room, user));
/** What one in rooms by the key visits, whoever owns it. */
const room = (chat: Chat, id: Value) => Number(roomOf(chat, id) !== undefined);

export function mayRead(chat: Chat, table: TableName, { id }: Person, row: Row): boolean {
  if (id === null) return true;
  switch (table) {
    case "rooms":
      return row.owner === id || isMember(chat, row.id!, id);
    case "members":
      return row.user === id;
    case "messages":
      return isMember(chat, row.room!, id);
    case "loose":
      return row.grp !== null && chat.tables.rooms.rows.some(({ name }) => name === row.grp);
  }
}

/** The read rule as it is left for a person and the equalities of a request; null where its visits are not known. */
export function readTerms(
  chat: Chat,
  table: TableName,
  person: Person,
  filters: readonly Filter[],
): readonly Term[] | null {
  const { id } = person;
  if (id === null) return [];
  const equal = (column: string) =>
    filters.find((filter) => filter.column === column && filter.operator === "eq") as { value: Value } | undefined;
  switch (table) {
    case "members": {
      const filtered = equal("user");
      // The filter is carried into the rule, which is then decided.
      return filtered === undefined
        ? [{ kind: "equality", column: "user", value: id }]
        : [{ kind: "gate", visits: 0, holds: filtered.value === id }];
    }
    case "messages": {
      const filtered = equal("room");
      return filtered === undefined
        ? [
            {
              kind: "judge",
              columns: ["room"],
              visitsOnce: 0,
              visits: (row) => membership(chat, row.room!, id),
              holds: (row) => mayRead(chat, table, person, row),
              ways: [byMembership(chat, "room", id)],
            },
          ]
        : [
            {
              kind: "gate",
              visits: membership(chat, filtered.value, id),
              holds: isMember(chat, filtered.value, id),
            },
          ];
    }
    case "rooms": {
      const [owner, key] = [equal("owner"), equal("id")];
      if (owner?.value === id) return [];
      // An owner whom the request names is not the caller: only the membership is left.
      const byOwner = owner === undefined ? [{ column: "owner", values: [id], links: 0 }] : [];
      if (owner !== undefined && key !== undefined)
        return [{ kind: "gate", visits: membership(chat, key.value, id), holds: isMember(chat, key.value, id) }];
      return [
        {
          kind: "judge",
          columns: key === undefined ? ["owner", "id"] : ["owner"],
          visitsOnce: key === undefined ? 0 : membership(chat, key.value, id),
          visits: key === undefined ? (row) => membership(chat, row.id!, id) : null,
          holds: (row) => mayRead(chat, table, person, row),
          // With a room that the request names, the membership does not hang on the row any more.
          ...(key === undefined && { ways: [...byOwner, byMembership(chat, "id", id)] }),
        },
      ];
    }
    case "loose":
      return null;
  }
}

/** What reading one row that is there costs, beside itself; null where it is not known. */
export function readVisits(chat: Chat, table: TableName, { id }: Person, row: Row): number | null {
  if (id === null || table === "members") return 0;
  if (table === "messages") return membership(chat, row.room!, id);
  return table === "rooms" ? membership(chat, row.id!, id) : null;
}

export type Action = "create" | "update" | "delete";

export interface Verdict {
  readonly allowed: boolean;
  /** Of the probes of the write's rule. */
  readonly visits: number;
}

/** Of a row as it is, or as it would be for a create. `next` is the row after an update. */
export function writeVerdict(
  chat: Chat,
  table: TableName,
  action: Action,
  { id }: Person,
  row: Row,
  next: Row,
): Verdict {
  const plain = (allowed: boolean): Verdict => ({ allowed, visits: 0 });
  const owned = (of: Value) => roomOf(chat, of)?.owner === id;
  if (id === null) return plain(true);
  switch (`${table} ${action}` as const) {
    case "rooms create":
      return plain(row.owner === id);
    case "rooms update":
      return plain(row.owner === id && next.owner === id);
    case "rooms delete":
      return plain(row.owner === id);
    case "members create":
    case "members update":
      return { allowed: owned(row.room!), visits: room(chat, row.room!) };
    case "members delete":
      return plain(row.user === id);
    case "messages create":
      return {
        allowed: row.author === id && isMember(chat, row.room!, id),
        visits: membership(chat, row.room!, id),
      };
    case "messages update":
      return plain(row.author === id && next.author === id);
    case "messages delete":
      return { allowed: owned(row.room!), visits: room(chat, row.room!) };
    case "loose create":
      return plain(true);
    default: {
      const positive = ({ n }: Row) => n !== null && (n as bigint) > 0n;
      return plain(positive(row) && (action === "delete" || positive(next)));
    }
  }
}
