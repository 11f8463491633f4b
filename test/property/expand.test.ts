import { expect, test, vi } from "vitest";
import type { SqlValue } from "../../src/platform/database.js";
import { type Client, client, dataOf, pagesOf } from "../support/client.js";
import { member } from "../support/people.js";
import { apiKey, serve, type TestServer } from "../support/server.js";
import { Random } from "./support/random.js";

/**
 * Lists with `expand` against an evaluator that knows nothing of SQL: generated rules, rows and paths, forwards and
 * backwards. `SEED=… QUERIES=…` repeats or prolongs a run.
 */
const seed = Random.seedOfRun();
const queries = Number(process.env.QUERIES ?? 150);
vi.setConfig({ testTimeout: 900_000 + 10 * queries * 60 });

type Value = string | number | boolean | null;
type Row = Readonly<Record<string, Value>>;
type TableName = "teams" | "people" | "profiles" | "rooms" | "members" | "messages" | "lines";

interface Spec {
  readonly key: readonly string[];
  readonly columns: readonly string[];
  readonly references: Readonly<Record<string, TableName>>;
}

const tables: Readonly<Record<TableName, Spec>> = {
  teams: { key: ["id"], columns: ["id", "lead"], references: { lead: "people" } },
  people: {
    key: ["id"],
    columns: ["id", "team", "boss", "is_public", "salary"],
    references: { team: "teams", boss: "people" },
  },
  profiles: { key: ["id"], columns: ["id", "person"], references: { person: "people" } },
  rooms: { key: ["id"], columns: ["id", "owner"], references: { owner: "people" } },
  members: { key: ["room", "user"], columns: ["room", "user"], references: { room: "rooms" } },
  messages: {
    key: ["id"],
    columns: ["id", "room", "author", "at", "likes", "draft"],
    references: { room: "rooms", author: "people" },
  },
  lines: {
    key: ["message", "line"],
    columns: ["message", "line", "text"],
    references: { message: "messages" },
  },
};
const tableNames = Object.keys(tables) as TableName[];

const schema = `
teams:
  columns: { id: { type: integer, primary_key: true }, lead: { type: text, references: { table: people } } }
  indexes: [{ columns: [lead] }]
people:
  columns:
    id: { type: text, primary_key: true }
    team: { type: integer, references: { table: teams } }
    boss: { type: text, references: { table: people } }
    is_public: { type: boolean, not_null: true }
    salary: { type: integer }
  indexes: [{ columns: [team] }, { columns: [boss, -id] }]
profiles:
  columns: { id: { type: integer, primary_key: true }, person: { type: text, unique: true, references: { table: people } } }
rooms:
  columns: { id: { type: integer, primary_key: true }, owner: { type: text, references: { table: people } } }
  indexes: [{ columns: [owner] }]
members:
  primary_key: [room, user]
  columns: { room: { type: integer, references: { table: rooms } }, user: { type: text } }
  indexes: [{ columns: [user] }]
messages:
  columns:
    id: { type: integer, primary_key: true }
    room: { type: integer, references: { table: rooms } }
    author: { type: text, references: { table: people } }
    at: { type: integer, not_null: true }
    likes: { type: integer }
    draft: { type: boolean, not_null: true }
  indexes: [{ columns: [room] }, { columns: [room, at] }, { columns: [room, likes] }, { columns: [author, -at] }]
lines:
  primary_key: [message, line]
  columns: { message: { type: integer, references: { table: messages } }, line: { type: integer }, text: { type: text } }
`;

/** TRUE, FALSE or NULL, as in SQL. */
type Truth = boolean | null;
interface Caller {
  readonly id: string | null;
  readonly role: string | null;
  readonly isKey: boolean;
}
type Data = Readonly<Record<TableName, readonly Row[]>>;
interface Rule {
  readonly text: string;
  readonly of: (row: Row, caller: Caller, data: Data) => Truth;
}

const same = (a: Value, b: Value): Truth => (a === null || b === null ? null : a === b);
const isMember = (room: Value, { id }: Caller, { members }: Data) =>
  members.some((member) => same(member.room!, room) === true && same(member.user!, id) === true);
const owns = (room: Value, { id }: Caller, { rooms }: Data) =>
  rooms.some((each) => same(each.id!, room) === true && same(each.owner!, id) === true);

const everywhere: readonly Rule[] = [
  { text: "true", of: () => true },
  { text: "auth.role = 'admin'", of: (_, { role }) => same(role, "admin") },
];
const rulesOf: Readonly<Record<TableName, readonly Rule[]>> = {
  teams: [{ text: "row.id != 2", of: ({ id }) => id !== 2 }],
  people: [
    { text: "row.is_public = true", of: ({ is_public }) => is_public === true },
    { text: "row.id = auth.id", of: ({ id }, caller) => same(id!, caller.id) },
    { text: "row.boss = auth.id", of: ({ boss }, caller) => same(boss!, caller.id) },
  ],
  profiles: [{ text: "row.id > 2", of: ({ id }) => (id as number) > 2 }],
  rooms: [
    { text: "row.owner = auth.id", of: ({ owner }, caller) => same(owner!, caller.id) },
    {
      text: "exists(members m where m.room = row.id and m.user = auth.id)",
      of: ({ id }, caller, data) => isMember(id!, caller, data),
    },
  ],
  members: [{ text: "row.user = auth.id", of: ({ user }, caller) => same(user!, caller.id) }],
  messages: [
    { text: "row.draft = false", of: ({ draft }) => draft === false },
    { text: "row.author = auth.id", of: ({ author }, caller) => same(author!, caller.id) },
    { text: "row.likes > 1", of: ({ likes }) => (likes === null ? null : (likes as number) > 1) },
    {
      text: "exists(members m where m.room = row.room and m.user = auth.id)",
      of: ({ room }, caller, data) => isMember(room!, caller, data),
    },
    {
      text: "exists(rooms r where r.id = row.room and exists(members m where m.room = r.id and m.user = auth.id))",
      of: ({ room }, caller, data) =>
        data.rooms.some(({ id }) => same(id!, room!) === true && isMember(id!, caller, data)),
    },
    {
      text: "exists(rooms r where r.id = row.room and r.owner = auth.id)",
      of: ({ room }, caller, data) => owns(room!, caller, data),
    },
  ],
  lines: [
    { text: "row.line < 3", of: ({ line }) => (line as number) < 3 },
    {
      text: "exists(members m where m.user = auth.id and m.room = row.line)",
      of: ({ line }, caller, data) => isMember(line!, caller, data),
    },
  ],
};

function randomRule(random: Random, table: TableName, depth = 2): Rule {
  if (depth === 0 || random.chance(0.4)) return random.pick([...rulesOf[table], ...rulesOf[table], ...everywhere]);
  const a = randomRule(random, table, depth - 1);
  if (random.chance(0.2))
    return {
      text: `not (${a.text})`,
      of: (...given) => {
        const truth = a.of(...given);
        return truth === null ? null : !truth;
      },
    };
  const b = randomRule(random, table, depth - 1);
  const [word, decides] = random.pick([["and", false] as const, ["or", true] as const]);
  return {
    text: `(${a.text} ${word} ${b.text})`,
    of: (...given) => {
      const truths = [a.of(...given), b.of(...given)];
      if (truths.includes(decides)) return decides;
      return truths.includes(null) ? null : !decides;
    },
  };
}

const people = ["ada", "bob", "cleo", "dan", "eve"];
const maybe = <T>(random: Random, value: T): T | null => (random.chance(0.2) ? null : value);

/** A row that may refer to any of the first `size` of another table. */
const rowOf: Readonly<Record<TableName, (random: Random, id: number) => Row>> = {
  teams: (random, id) => ({ id, lead: maybe(random, random.pick(people)) }),
  people: (random, id) => ({
    id: people[id - 1] ?? `p${id}`,
    team: maybe(random, random.int(1, 3)),
    boss: maybe(random, random.pick(people)),
    is_public: random.chance(0.5),
    salary: id,
  }),
  profiles: (random, id) => ({ id, person: random.chance(0.3) ? null : (people[id - 1] ?? null) }),
  rooms: (random, id) => ({ id, owner: maybe(random, random.pick(people)) }),
  members: (random, id) => ({ room: 1 + (id % 4), user: people[random.int(0, 4)]! }),
  messages: (random, id) => ({
    id,
    room: maybe(random, random.int(1, 4)),
    author: maybe(random, random.pick(people)),
    at: random.int(1, 6),
    likes: maybe(random, random.int(0, 3)),
    draft: random.chance(0.3),
  }),
  lines: (random, id) => ({
    message: 1 + (id % 20),
    line: 1 + (Math.floor(id / 20) % 5),
    text: random.pick(["a", "b"]),
  }),
};
const sizes: Readonly<Record<TableName, number>> = {
  teams: 3,
  people: 5,
  profiles: 5,
  rooms: 4,
  members: 8,
  messages: 40,
  lines: 60,
};

const keyOf = (table: TableName, row: Row) => tables[table].key.map((column) => row[column]).join();

function randomData(random: Random): Record<TableName, Row[]> {
  const made = tableNames.map((table) => {
    const rows = Array.from({ length: sizes[table] }, (_, i) => rowOf[table](random, i + 1));
    return [table, [...new Map(rows.map((row) => [keyOf(table, row), row])).values()]] as const;
  });
  return Object.fromEntries(made) as Record<TableName, Row[]>;
}

/** Inserts rows, in one transaction, as tables refer to each other in circles. */
async function insert(server: TestServer, data: Partial<Data>): Promise<void> {
  const stored = (value: Value): SqlValue => (typeof value === "boolean" ? BigInt(value) : value);
  await server.database.batch([
    { sql: "PRAGMA defer_foreign_keys = ON", params: [] },
    ...tableNames.flatMap((table) => {
      const { columns } = tables[table];
      return (data[table] ?? []).map((row) => ({
        sql: `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => "?").join()})`,
        params: columns.map((column) => stored(row[column]!)),
      }));
    }),
  ]);
}

interface World {
  readonly data: Record<TableName, Row[]>;
  readonly rules: Readonly<Record<TableName, Rule>>;
}

function visible({ data, rules }: World, table: TableName, caller: Caller): readonly Row[] {
  return data[table].filter((row) => caller.isKey || rules[table].of(row, caller, data) === true);
}

function shownColumns(table: TableName, { isKey, role }: Caller): readonly string[] {
  const isOpen = isKey || role === "admin";
  return tables[table].columns.filter((column) => isOpen || column !== "salary");
}

const shownRow = (row: Row, columns: readonly string[]) =>
  Object.fromEntries(columns.map((column) => [column, row[column]]));

interface Sort {
  readonly column: string;
  readonly descending: boolean;
}

function sorted(table: TableName, rows: readonly Row[], sort: readonly Sort[]): readonly Row[] {
  const order = [...sort, ...tables[table].key.map((column) => ({ column, descending: false }))];
  const rank = (value: Value) => (typeof value === "boolean" ? Number(value) : value);
  return rows.toSorted((a, b) => {
    for (const { column, descending } of order) {
      const [mine, its] = [rank(a[column]!), rank(b[column]!)];
      if (mine === its) continue;
      const isBefore = mine === null || (its !== null && mine < its);
      return isBefore === descending ? 1 : -1;
    }
    return 0;
  });
}

interface Path {
  readonly name: string;
  readonly steps: readonly { readonly table: TableName; readonly from: string; readonly to: string }[];
  readonly isBackward: boolean;
  readonly select: readonly string[] | null;
  readonly sort: readonly Sort[];
  readonly limit: number;
  readonly counts: boolean;
}

function randomSort(random: Random, columns: readonly string[]): readonly Sort[] {
  return random.some(columns, random.int(0, 2)).map((column) => ({ column, descending: random.chance(0.5) }));
}

function randomPath(random: Random, from: TableName, caller: Caller): Path | null {
  const steps: Path["steps"][number][] = [];
  const names: string[] = [];
  let at = from;
  let isBackward = false;
  for (let left = random.int(1, 3); left > 0 && !isBackward; left--) {
    const forward = Object.entries(tables[at].references);
    const backward = tableNames.flatMap((table) =>
      Object.entries(tables[table].references).flatMap(([column, to]) => (to === at ? [{ table, column }] : [])),
    );
    if (forward.length > 0 && random.chance(0.6)) {
      const [column, table] = random.pick(forward);
      steps.push({ table, from: column, to: tables[table].key[0]! });
      names.push(column);
      at = table;
    } else if (backward.length > 0) {
      const { table, column } = random.pick(backward);
      steps.push({ table, from: tables[at].key[0]!, to: column });
      names.push(table, column);
      at = table;
      isBackward = true;
    } else break;
  }
  if (steps.length === 0) return null;
  const columns = shownColumns(at, caller);
  const count = random.int(1, columns.length);
  return {
    name: names.join("."),
    steps,
    isBackward,
    select: random.chance(0.3) ? random.some(columns, count) : null,
    sort: isBackward ? randomSort(random, columns) : [],
    limit: isBackward && random.chance(0.7) ? random.int(1, 5) : 10,
    counts: isBackward && random.chance(0.3),
  };
}

/** What a row has in `_expand` and `_count` for a path. */
function expandedBy(path: Path, row: Row, world: World, caller: Caller) {
  let rows: readonly Row[] = [row];
  let table: TableName | null = null;
  for (const step of path.steps) {
    const [before] = rows;
    table = step.table;
    const there = visible(world, table, caller);
    rows = before === undefined ? [] : there.filter((each) => same(each[step.to]!, before[step.from]!) === true);
  }
  const columns = path.select ?? shownColumns(table!, caller);
  const shown = sorted(table!, rows, path.sort)
    .slice(0, path.isBackward ? path.limit : 1)
    .map((each) => shownRow(each, columns));
  return { found: path.isBackward ? shown : (shown[0] ?? null), count: rows.length };
}

const spelled = (sort: readonly Sort[]) => sort.map(({ column, descending }) => `${descending ? "-" : ""}${column}`);

interface Asked {
  readonly table: TableName;
  readonly sort: readonly Sort[];
  readonly limit: number;
  readonly paths: readonly Path[];
}

function randomList(random: Random, caller: Caller): Asked {
  const table = random.pick(tableNames);
  const found = random.times(random.int(1, 4), () => randomPath(random, table, caller));
  const paths = [...new Map(found.flatMap((path) => (path === null ? [] : [[path.name, path]])))].map(
    ([, path]) => path,
  );
  return {
    table,
    sort: randomSort(random, shownColumns(table, caller)),
    limit: random.pick([2, 7, 50]),
    paths,
  };
}

function queryOf({ sort, limit, paths }: Asked): string {
  const options = paths.flatMap(({ name, isBackward, select, sort, limit, counts }) => [
    ...(select === null ? [] : [`expand[${name}][select]=${select.join()}`]),
    ...(sort.length === 0 ? [] : [`expand[${name}][sort]=${spelled(sort).join()}`]),
    ...(isBackward ? [`expand[${name}][limit]=${limit}`] : []),
    ...(counts ? [`expand[${name}][count]=true`] : []),
  ]);
  const expand = paths.length === 0 ? [] : [`expand=${paths.map(({ name }) => name).join()}`];
  const order = sort.length === 0 ? [] : [`sort=${spelled(sort).join()}`];
  return [...order, `limit=${limit}`, ...expand, ...options].join("&");
}

function bodyOf({ sort, limit, paths }: Asked): object {
  const options = ({ isBackward, select, sort, limit, counts }: Path) => ({
    ...(select !== null && { select }),
    ...(isBackward && { sort: spelled(sort), limit, count: counts }),
  });
  const expand = Object.fromEntries(paths.map((path) => [path.name, options(path)]));
  return { sort: spelled(sort), limit, expand };
}

function expectedOf(asked: Asked, world: World, caller: Caller): readonly object[] {
  const { table, sort, paths } = asked;
  return sorted(table, visible(world, table, caller), sort).map((row) => {
    const shown = shownRow(row, shownColumns(table, caller));
    if (paths.length === 0) return shown;
    const results = paths.map((path) => [path, expandedBy(path, row, world, caller)] as const);
    const counted = results.filter(([{ counts }]) => counts);
    return {
      ...shown,
      _expand: Object.fromEntries(results.map(([{ name }, { found }]) => [name, found])),
      ...(counted.length > 0 && {
        _count: Object.fromEntries(counted.map(([{ name }, { count }]) => [name, count])),
      }),
    };
  });
}

interface Served {
  readonly server: TestServer;
  readonly world: World;
  readonly callers: readonly { readonly caller: Caller; readonly as: Client }[];
}

async function served(random: Random): Promise<Served> {
  const rules = Object.fromEntries(
    tableNames.map((table) => [table, randomRule(random, table)]),
  ) as unknown as World["rules"];
  const config = tableNames.map((table) => `[rules.${table}]\nread = ${JSON.stringify(rules[table].text)}\n`);
  const server = await serve(
    { schema, config: `${config.join("")}[rules.people.columns.salary]\nread = "auth.role = 'admin'"\n` },
    "app",
  );
  const data = randomData(random);
  await insert(server, data);
  const users = [
    { id: "ada", role: "user" },
    { id: "bob", role: "user" },
    { id: "root", role: "admin" },
  ] as const;
  const signedIn = [];
  for (const { id, role } of users) {
    const as = client(server, (await member(server, id, role)).bearer);
    signedIn.push({ caller: { id, role, isKey: false }, as });
  }
  const key = client(server, await apiKey(server, "project:backend"));
  return {
    server,
    world: { data, rules },
    callers: [...signedIn, { caller: { id: null, role: null, isKey: true }, as: key }],
  };
}

/** Where the rules deny a caller everything, the list is refused whatever is in it. */
const isDenied = (status: number) => status === 403;

test("rows and what they expand are those of the evaluator", async () => {
  const random = new Random(seed);
  const projects = Math.max(4, Math.ceil(queries / 100));
  let shown = 0;
  for (let project = 0; project < projects; project++) {
    const { world, callers } = await served(random.fork(project));
    for (let i = 0; i < queries / projects; i++) {
      const { caller, as } = random.pick(callers);
      const asked = randomList(random, caller);
      const path = `/api/${asked.table}?${queryOf(asked)}`;
      const told = `SEED=${seed}, as ${caller.id}: ${path}, rules ${JSON.stringify(
        Object.fromEntries(tableNames.map((table) => [table, world.rules[table].text])),
      )}`;
      const expected = expectedOf(asked, world, caller);
      const first = await as.get(path);
      if (isDenied(first.status)) {
        expect(expected, told).toEqual([]);
        continue;
      }
      expect(dataOf(first), told).toEqual(expected.slice(0, asked.limit));
      const posted = await as.post(`/api/${asked.table}/_svc/query`, bodyOf(asked));
      expect(dataOf(posted), told).toEqual(dataOf(first));
      if (random.chance(0.2)) {
        const pages = await pagesOf(as, path);
        expect(
          pages.flatMap(({ data }) => data),
          told,
        ).toEqual(expected);
      }
      shown += Number(/"_expand":\{[^}]*(\[\{|:\{)/.test(first.text));
    }
  }
  // Not everything expands to nothing, or the agreement would say little.
  expect(shown).toBeGreaterThan(queries * 0.2);
});

/** Tables that no rule looks into from another one, so that hidden rows of theirs decide nothing. */
const lookedIntoByNone = ["teams", "people", "profiles", "messages", "lines"] as const;

test("rows that the caller may not read change nothing", async () => {
  const random = new Random(seed).fork(-1);
  let hidden = 0;
  for (let project = 0; project < 4; project++) {
    const { server, world, callers } = await served(random.fork(project));
    const { caller, as } = random.pick(callers.filter(({ caller }) => !caller.isKey));
    const paths = random.times(Math.ceil(queries / 20), () => {
      const asked = randomList(random, caller);
      return `/api/${asked.table}?${queryOf(asked)}`;
    });
    const answers = async () => {
      const all = [];
      for (const path of paths) {
        const { status, body } = await as.get(path);
        const { data, error, meta } = body as { data?: unknown; error?: unknown; meta?: { total: number } };
        all.push([path, status, data, error, meta?.total]);
      }
      return all;
    };
    const before = await answers();
    for (const table of lookedIntoByNone) {
      const known = new Set(world.data[table].map((row) => keyOf(table, row)));
      const rows = random
        .times(30, (i) => rowOf[table](random, 100 + i))
        .filter((row) => !known.has(keyOf(table, row)))
        .filter((row) => world.rules[table].of(row, caller, world.data) !== true);
      const fresh = [...new Map(rows.map((row) => [keyOf(table, row), row])).values()];
      await insert(server, { [table]: fresh });
      hidden += fresh.length;
    }
    expect(await answers(), `SEED=${seed}`).toEqual(before);
  }
  expect(hidden).toBeGreaterThan(20);
});
