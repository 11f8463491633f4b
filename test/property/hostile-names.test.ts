import { expect, test } from "vitest";
import type { Database, Statement } from "../../src/platform/database.js";
import { member } from "../support/people.js";
import { apiKey, serve, type TestServer } from "../support/server.js";
import { Random } from "./support/random.js";

const schema = `
notes:
  columns:
    id: { type: text, primary_key: true }
    owner: { type: text }
    body: { type: text }
    level: { type: integer }
    score: { type: real }
    flag: { type: boolean }
    doc: { type: json }
    bin: { type: blob }
  indexes: [{ columns: [owner] }]
numbers:
  columns:
    id: { type: integer, primary_key: true }
    label: { type: text }
pairs:
  primary_key: [a, b]
  columns: { a: { type: text }, b: { type: integer }, note: { type: text } }
`;

const columnNames = "id owner body level score flag doc bin label a b note".split(" ");

const everything = '{ read = "public", create = "public", update = "public", delete = "public" }';
const config = `[rules]\nnotes = ${everything}\nnumbers = ${everything}\npairs = ${everything}\n`;

/** In the longer ones, so that no statement holds them by chance. */
const mark = "zqx";

/** Names and values that would matter if they ever became SQL, a property of an object, or part of a path. */
const known: readonly string[] = [
  `${mark}'`,
  `${mark}''`,
  `${mark}"`,
  `${mark}""`,
  `${mark}\``,
  `${mark}]`,
  `[${mark}]`,
  `${mark}[`,
  `${mark};`,
  `${mark}; DROP TABLE notes; --`,
  `${mark}'; DELETE FROM notes; --`,
  `${mark}" OR 1=1 --`,
  `${mark}') OR ('1'='1`,
  `${mark}) UNION SELECT email FROM _users --`,
  `${mark}--`,
  `${mark}/*`,
  `*/${mark}`,
  `${mark}?`,
  `${mark}?1`,
  `${mark}:name`,
  `$${mark}`,
  `@${mark}`,
  `${mark}%`,
  `${mark}_`,
  `${mark}*`,
  `${mark}\\`,
  `${mark},id`,
  `-${mark}`,
  ` ${mark} `,
  `${mark}\n`,
  `${mark}\r\nX-Injected: 1`,
  `${mark}\t`,
  `${mark}=1&${mark}=2`,
  `${mark}#`,
  `${mark}/../notes`,
  `../${mark}`,
  `..%2f${mark}`,
  `%00${mark}`,
  `${mark}\u202e`,
  `${mark}\ufeff`,
  `ıd${mark}`,
  `Kelvin\u212a${mark}`,
  `日本${mark}`,
  `🙂${mark}`,
  `<script>${mark}</script>`,
  mark.repeat(3_000),
  ".",
  "..",
  "'",
  '"',
  ";",
  "--",
  "]",
  "",
  "*",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "length",
  "rowid",
  "_rowid_",
  "oid",
  "ROWID",
  "ID",
  "sqlite_master",
  "sqlite_schema",
  "sqlite_sequence",
  "main.notes",
  "notes.id",
  "t.id",
  "_users",
  "_schema",
  "%5fusers",
  "_svc",
  "undefined",
  "null",
  "NaN",
  "0x10",
  "1e3",
  "1.0",
  " 1",
  "9223372036854775808",
  "-9223372036854775809",
  "1".repeat(400),
];

/** `npm run test:long` tries all of them. */
const hostile = new Random(Random.seedOfRun()).some(known, process.env.QUERIES === undefined ? 40 : known.length);

/** Remembers the text of every statement. */
class Spy {
  texts: string[] = [];

  wrap(database: Database): Database {
    const remember = (statements: readonly Statement[]) => {
      // A plan is asked for once for each statement.
      for (const { sql } of statements) if (!sql.startsWith("EXPLAIN ")) this.texts.push(sql);
    };
    return {
      query: (statements) => {
        remember(statements);
        return database.query(statements);
      },
      batch: (statements) => {
        remember(statements);
        return database.batch(statements);
      },
      migrate: (statements) => {
        remember(statements);
        return database.migrate(statements);
      },
      foreignKeysStayOn: database.foreignKeysStayOn,
      answerBytesMax: database.answerBytesMax,
      imageBytesMax: database.imageBytesMax,
      statementsMax: database.statementsMax,
      close: () => database.close(),
    };
  }

  /** The texts of the statements that a request sends. */
  async during<T>(request: () => Promise<T>): Promise<{ readonly result: T; readonly texts: readonly string[] }> {
    this.texts = [];
    const result = await request();
    return { result, texts: this.texts };
  }
}

interface Fixture {
  readonly server: TestServer;
  readonly spy: Spy;
  readonly callers: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

async function serveFixture(): Promise<Fixture> {
  const spy = new Spy();
  const server = await serve({ schema, config, wrap: (database) => spy.wrap(database) });
  const insert = (sql: string, ...params: Statement["params"]) => ({ sql, params });
  await server.database.batch([
    insert("INSERT INTO notes (id, owner, body, level) VALUES ('n1', 'ada', 'first', 1), ('n2', NULL, NULL, 2)"),
    insert("INSERT INTO numbers VALUES (1, 'one'), (2, 'two')"),
    insert("INSERT INTO pairs VALUES ('a', 1, 'note'), ('b', 2, NULL)"),
  ]);
  const { bearer } = await member(server, "ada");
  const callers = { user: { ...bearer }, key: await apiKey(server, "project:backend"), anonymous: {} };
  // The first requests load the project and find out who a key is, which is not what is watched.
  for (const headers of Object.values(callers)) await server.request("/api/notes", { headers });
  return { server, spy, callers };
}

/** All that is stored, the server's own tables included, but for receipts and their sums. */
async function dump({ server }: Fixture): Promise<string> {
  const names = await server.database.query([{ sql: "SELECT name, sql FROM sqlite_master ORDER BY name", params: [] }]);
  const tables = names[0]!.rows.filter(([name, sql]) => sql !== null && !/index|sqlite_/i.test(String(name)));
  const contents = await server.database.query(
    tables
      .filter(([name, sql]) => /^CREATE TABLE/i.test(String(sql)) && !/^_usage_(entries|days)$/.test(String(name)))
      .map(([name]) => ({ sql: `SELECT * FROM "${name}"`, params: [] })),
  );
  return JSON.stringify([names[0]!.rows, contents.map(({ rows }) => rows)]);
}

interface Probe {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Seen {
  readonly status: number;
  readonly body: unknown;
  readonly texts: readonly string[];
}

async function ask({ server, spy }: Fixture, probe: Probe): Promise<Seen> {
  const { method, path, body } = probe;
  const { result, texts } = await spy.during(() =>
    server.request(path, {
      method,
      headers: { "Content-Type": "application/json", ...probe.headers },
      ...(body === undefined ? {} : { body }),
    }),
  );
  const text = await result.text();
  const described = `${method} ${path.slice(0, 300)} ${body?.slice(0, 300) ?? ""}`;
  expect(result.headers.get("Content-Type"), described).toMatch(/^application\/json/);
  expect(result.headers.has("X-Injected"), described).toBe(false);
  expect(result.status, `${described}: ${text}`).toBeLessThan(500);
  const answer: unknown = JSON.parse(text);
  if (result.status >= 400) expectErrorShape(answer, described);
  return { status: result.status, body: answer, texts };
}

function expectErrorShape(answer: unknown, described: string): void {
  const { error } = answer as { error: { message: string; columns?: string[] } };
  const { message, columns } = error;
  expect(answer, described).toEqual({
    error: { code: expect.any(String), message: expect.any(String), ...(columns && { columns }) },
  });
  if (columns) expect(columns, described).not.toEqual([]);
  for (const column of columns ?? []) expect(columnNames, described).toContain(column);
  const own = message.replace(/"(?:[^"\\]|\\.)*"/g, "");
  expect(message.length, described).toBeLessThan(500);
  expect(own, described).not.toMatch(/SELECT |INSERT |UPDATE |DELETE FROM|SQLITE|\bat .*\.(ts|js):/);
}

/** No text of a statement holds the string, where it is one that no statement holds by itself. */
function expectOnlyAsParameter(seen: Seen, text: string): void {
  if (text.includes(mark)) expect(seen.texts.filter((sql) => sql.includes(mark))).toEqual([]);
}

const encoded = encodeURIComponent;

/** Segments that are gone from a URL before the server sees it. */
const vanishes = (text: string) => text === "" || text === "." || text === "..";

/** The path of a note; one whose id vanishes from a path is reached by its key as a parameter. */
const notePath = (id: string) => (vanishes(id) ? `/api/notes/_svc/key?id=${encoded(id)}` : `/api/notes/${encoded(id)}`);

test("a hostile name in place of a table is an unknown table", async () => {
  const fixture = await serveFixture();
  const before = await dump(fixture);
  const unknown = await ask(fixture, { method: "GET", path: "/api/nowhere" });
  for (const name of hostile) {
    if (vanishes(name)) continue;
    for (const headers of Object.values(fixture.callers))
      for (const [method, path] of [
        ["GET", `/api/${encoded(name)}`],
        ["POST", `/api/${encoded(name)}`],
        ["GET", `/api/${encoded(name)}/1`],
        ["PATCH", `/api/${encoded(name)}/1`],
        ["DELETE", `/api/${encoded(name)}/1`],
        ["GET", `/api/${encoded(name)}/_svc/key?id=1`],
        ["PUT", `/api/${encoded(name)}/1`],
      ] as const) {
        const body = method === "POST" || method === "PATCH" ? { body: '{"id":"1"}' } : {};
        const seen = await ask(fixture, { method, path, headers, ...body });
        expect(seen.status, `${method} ${path}`).toBe(404);
        expect(seen.body, `${method} ${path}`).toEqual(unknown.body);
        expectOnlyAsParameter(seen, name);
      }
  }
  expect(await dump(fixture)).toBe(before);
});

test("a hostile name in place of a column is an unknown column", async () => {
  const fixture = await serveFixture();
  const before = await dump(fixture);
  for (const name of hostile)
    for (const headers of Object.values(fixture.callers)) {
      // What finds out who calls is all that is sent: no statement is made for such a request.
      const allowed = (await ask(fixture, { method: "GET", path: "/api/notes?limit=0", headers })).texts;
      const object = JSON.stringify({ [name]: 1 });
      // An object literal has no own `__proto__`, JSON text has.
      const member = object === "{}" ? '{"__proto__":1}' : object;
      const probes: readonly Probe[] = [
        ...[
          `where[${name}]=1`,
          `filter[${name}][eq]=1`,
          `filter[${name}][is_null]=true`,
          `filter[body][${name}]=1`,
          `sort=${name}`,
          `sort=-${name}`,
          `sort=id,${name}`,
          `select=${name}`,
          `select=id,${name}`,
          `${name}=1`,
        ].map((parameter) => ({ method: "GET", path: `/api/notes?${encodedParameter(parameter)}` })),
        { method: "POST", path: "/api/notes", body: member },
        { method: "POST", path: "/api/notes", body: `{"id":"new",${member.slice(1)}` },
        { method: "PATCH", path: "/api/notes/n1", body: member },
        { method: "GET", path: `/api/pairs/_svc/key?a=a&b=1&${encoded(name)}=1` },
        { method: "DELETE", path: `/api/pairs/_svc/key?a=a&${encoded(name)}=1` },
      ];
      for (const probe of probes) {
        const seen = await ask(fixture, { ...probe, headers });
        const isKnown = /\/api\/notes\?sort=-?-id$/.test(probe.path);
        expect(seen.status, `${probe.method} ${probe.path} ${probe.body ?? ""}`).toBe(isKnown ? 200 : 400);
        if (!isKnown) expect(seen.texts, probe.path).toEqual(allowed);
        expectOnlyAsParameter(seen, name);
      }
    }
  expect(await dump(fixture)).toBe(before);
});

/** The name is encoded whole; the brackets around it need not be. */
function encodedParameter(parameter: string): string {
  const equals = parameter.lastIndexOf("=");
  return `${encoded(parameter.slice(0, equals))}=${encoded(parameter.slice(equals + 1))}`;
}

test("a hostile value selects by what it says, and no statement differs by it", async () => {
  const fixture = await serveFixture();
  const before = await dump(fixture);
  const headers = fixture.callers.key!;
  const text = (value: string) => [
    notePath(value),
    `/api/pairs/_svc/key?a=${encoded(value)}&b=1`,
    `/api/notes?where[body]=${encoded(value)}`,
    `/api/notes?where[id]=${encoded(value)}`,
    ...["eq", "ne", "lt", "lte", "gt", "gte", "contains", "starts_with"].map(
      (operator) => `/api/notes?filter[owner][${operator}]=${encoded(value)}`,
    ),
    `/api/notes?filter[body][in]=${encoded(JSON.stringify([value]))}`,
    `/api/notes?filter[id][in]=${encoded(JSON.stringify([value, "x"]))}`,
  ];
  // The plan of a statement is looked at once: what a request sends beside it is another one then.
  for (const path of [...text("h"), ...text("h".repeat(5_000))]) await ask(fixture, { method: "GET", path, headers });
  for (const value of hostile) {
    const paths = text(value);
    // As long as the other, for the length of a needle may decide how it is looked for.
    const harmless = text("h".repeat(value.length));
    for (const [i, path] of paths.entries()) {
      const expected = await ask(fixture, { method: "GET", path: harmless[i]!, headers });
      const seen = await ask(fixture, { method: "GET", path, headers });
      expect(seen.status, path).toBe(expected.status);
      expect(seen.texts, path).toEqual(expected.texts);
      expectOnlyAsParameter(seen, value);
    }
  }
  expect(await dump(fixture)).toBe(before);
});

test("a hostile value of another type is refused", async () => {
  const fixture = await serveFixture();
  const before = await dump(fixture);
  const headers = fixture.callers.key!;
  for (const value of hostile) {
    for (const path of [
      `/api/notes?where[level]=${encoded(value)}`,
      `/api/notes?filter[level][gt]=${encoded(value)}`,
      `/api/notes?filter[level][in]=${encoded(value)}`,
      `/api/notes?filter[level][in]=${encoded(JSON.stringify([value]))}`,
      `/api/notes?filter[flag][eq]=${encoded(value)}`,
      `/api/notes?filter[id][is_null]=${encoded(value)}`,
      `/api/notes?filter[doc][eq]=${encoded(value)}`,
      `/api/notes?filter[bin][in]=${encoded(value)}`,
      `/api/notes?limit=${encoded(value)}`,
      `/api/notes?offset=${encoded(value)}`,
      `/api/notes?cursor=${encoded(value)}`,
      ...(vanishes(value) ? [] : [`/api/numbers/${encoded(value)}`]),
      `/api/pairs/_svc/key?a=a&b=${encoded(value)}`,
    ]) {
      const seen = await ask(fixture, { method: "GET", path, headers });
      expect(seen.status, path).toBe(400);
      expectOnlyAsParameter(seen, value);
    }
    for (const column of ["level", "score", "flag"]) {
      const body = JSON.stringify({ [column]: value });
      const isInteger = column === "level" && /^-?[1-9]\d{15,18}$/.test(value);
      if (!isInteger)
        expect((await ask(fixture, { method: "PATCH", path: "/api/notes/n1", body, headers })).status, body).toBe(400);
    }
  }
  expect(await dump(fixture)).toBe(before);
});

test("a hostile value is stored and given back as it is", async () => {
  const fixture = await serveFixture();
  const before = await dump(fixture);
  const headers = fixture.callers.user!;
  const create = (value: string) => JSON.stringify({ id: value, body: value, doc: { [value]: value } });
  const bodies = new Map<string, readonly string[]>();
  // Once for the plans, which are looked at along with the statements, and once for what is then sent.
  for (const value of ["harmless", "harmless", ...hostile]) {
    const path = notePath(value);
    const created = await ask(fixture, { method: "POST", path: "/api/notes", body: create(value), headers });
    expect(created.status, value).toBe(201);
    expectOnlyAsParameter(created, value);
    const row = { id: value, owner: null, body: value, level: null, score: null, flag: null, bin: null };
    const { doc, ...stored } = (created.body as { data: Record<string, unknown> }).data;
    expect(stored).toEqual(row);
    expect(JSON.stringify(doc)).toBe(JSON.stringify({ [value]: value }));
    const patch = JSON.stringify({ owner: value });
    const patched = await ask(fixture, { method: "PATCH", path, body: patch, headers });
    expect(patched.status, value).toBe(200);
    const again = await ask(fixture, { method: "POST", path: "/api/notes", body: create(value), headers });
    expect(again.status, value).toBe(409);
    const read = await ask(fixture, { method: "GET", path, headers });
    expect((read.body as { data: unknown }).data, value).toMatchObject({ ...row, owner: value });
    const removed = await ask(fixture, { method: "DELETE", path, headers });
    expect(removed.body, value).toMatchObject({ data: { id: value } });
    const texts = [created, patched, again, read, removed].flatMap((seen) => {
      expectOnlyAsParameter(seen, value);
      return seen.texts;
    });
    if (value === "harmless") bodies.set(value, texts);
    expect(texts, value).toEqual(bodies.get("harmless"));
  }
  expect(await dump(fixture)).toBe(before);
});
