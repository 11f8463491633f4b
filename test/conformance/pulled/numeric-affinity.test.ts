import { describe, expect, it } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import type { PullNotes } from "../../../src/schema/pull/introspect.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { type Client, client, dataOf, expectRefusal, metaOf, pagesOf } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

/** `data` of an answer to a pull. */
interface Changes {
  readonly checkpoint: string;
  readonly changes: readonly { readonly key: { readonly id: unknown } }[];
}

interface Pulled {
  readonly server: TestServer;
  readonly key: Client;
  readonly notes: PullNotes;
}

async function pulled(config: string, ...sql: string[]): Promise<Pulled> {
  const server = await serve({
    schema: "first: { columns: { id: { type: integer, primary_key: true } } }",
    config,
  });
  for (const each of sql) await run(server, each);
  const { text, notes } = await pullSchema(server.database);
  const applied = await applyChange(server.database, text, { allowDestructive: false, now: 1 });
  expect(applied).toMatchObject({ outcome: "applied" });
  const key = client(server, await apiKey(server, "project:backend"));
  return { server, key, notes };
}

const idsOf = (data: readonly Record<string, unknown>[]) => data.map(({ id }) => id);
const found = async (caller: Client, path: string) => idsOf(dataOf(await caller.get(path)));

describe("a text column whose affinity makes numbers of texts", () => {
  const table = [
    "CREATE TABLE t (id INTEGER PRIMARY KEY, code STRING, day DATE, doc JSON, name VARCHAR(9))",
    "CREATE INDEX codes ON t (code)",
    "INSERT INTO t VALUES (1, 'A1', '2024-03-01', '{}', '5'), (2, '007', '2023-12-31', '[]', '007'), (3, '5', NULL, NULL, NULL)",
  ];
  const numbers = ["007", "5", "5.0", " 5", "5 ", "\t5", "+5", ".5", "5.", "1e3", "1e999", "-1E-2"];
  const texts = ["", " ", "A", "0x10", "5 x", "1e", "-", "Inf", "NaN", "1_000", "٣", "\u00a05", "2024-01-01"];

  it("takes the texts that stay as they are, and no other", async () => {
    const { server, key, notes } = await pulled("", ...table);
    expect(notes).toMatchObject({
      choices: ["t.code: values of several types (2 integer, 1 text), taken as text"],
      narrowed: [
        "t.code: STRING turns texts that read as numbers into numbers, so it takes none of them",
        "t.day: DATE turns texts that read as numbers into numbers, so it takes none of them",
        "t.doc: JSON stores a number as such, so it takes those of up to 15 digits",
      ],
    });
    for (const code of numbers) {
      expectRefusal(await key.post("/api/t", { code }), 400, "bad_request", ["code"]);
      expectRefusal(await key.patch("/api/t/1", { day: code }), 400, "bad_request", ["day"]);
    }
    for (const code of texts) {
      const created = await key.post("/api/t", { code, name: "007", day: code });
      expect(dataOf(created), code).toMatchObject({ code, name: "007", day: code });
    }
    expect(await rowsOf(server, "SELECT count(*) FROM t WHERE typeof(code) <> 'text'")).toEqual([[2]]);
  });

  it("takes JSON numbers that stay what they are", async () => {
    const { key } = await pulled("", ...table);
    for (const doc of [5, -7.25, 1e21, "5", [1], true, null])
      expect(dataOf(await key.post("/api/t", { doc }))).toMatchObject({ doc });
    for (const doc of [0.1 + 0.2, 5e-324, 1.7976931348623157e308])
      expectRefusal(await key.post("/api/t", { doc }), 400, "bad_request", ["doc"]);
  });

  it("shows an integer that no JavaScript number holds as a text, which finds it", async () => {
    const large = "1161380288898609914";
    const { key, server } = await pulled(
      '[rules.t]\nread = "public"',
      ...table,
      `INSERT INTO t VALUES (4, ${large}, -9007199254740992, 9007199254740991, 'x')`,
    );
    const row = { id: 4, code: large, day: "-9007199254740992", doc: 9007199254740991, name: "x" };
    for (const path of ["/api/t/4", `/api/t?where[code]=${large}`, "/api/t?filter[day][in]=-9007199254740992"]) {
      const data = dataOf(await key.get(path));
      expect(Array.isArray(data) ? data[0] : data, path).toEqual(row);
    }
    const { data } = (await client(server).get("/api/t/_svc/aggregate?count=*&group=code")).body as { data: object[] };
    expect(data).toContainEqual({ code: large, count: 1 });
  });

  it("is compared as it is shown", async () => {
    const { key } = await pulled("", ...table);
    expect(dataOf(await key.get("/api/t?select=code"))).toEqual([{ code: "A1" }, { code: 7 }, { code: 5 }]);
    for (const [filter, expected] of [
      ["where[code]=A1", [1]],
      ["where[code]=7", [2]],
      ["where[code]=007", []],
      ["where[code]=7.0", [2]],
      ["filter[code][ne]=7", [1, 3]],
      ["filter[code][ne]=007", [1, 2, 3]],
      ["filter[code][in]=7,A1", [1, 2]],
      ["filter[code][in]=007,A1", [1]],
      ["filter[code][in]=007,7.0", [2]],
      ["filter[code][gte]=7", [1, 2]],
      ["filter[code][lt]=7", [3]],
      ["filter[code][lt]=A", [2, 3]],
      // Numbers come before texts.
      ["filter[day][gte]=2024", [1, 2]],
      ["filter[day][lt]=2024", []],
      ["filter[day][gte]=2024-01-01", [1]],
      ["filter[code][contains]=7", [2]],
      ["filter[name][gte]=5", [1]],
    ] as const)
      expect(await found(key, `/api/t?${filter}&sort=id`), filter).toEqual(expected);
    expect(metaOf(await key.get("/api/t?where[code]=7"))).toMatchObject({ rows_read: 2 });
  });

  it("does not become one of texts without a person's word", async () => {
    const { server } = await pulled("", ...table);
    const { text } = await pullSchema(server.database);
    const strict = text.replace("t:\n  strict: false\n", "t:\n");
    expect(strict).not.toBe(text);
    const outcome = await applyChange(server.database, strict, { allowDestructive: false, now: 1 });
    if (outcome.outcome !== "refused" || outcome.reason !== "destructive") throw new Error("not refused");
    expect(outcome.steps.flatMap(({ hazards }) => hazards)).toEqual([
      { effect: "destructive", reason: "t.code holds numbers, which become texts", count: 2 },
    ]);
    expect(await rowsOf(server, "SELECT count(*) FROM t WHERE typeof(code) = 'integer'")).toEqual([[2]]);
  });

  it("as a key is found as it is shown", async () => {
    const { key } = await pulled(
      "",
      "CREATE TABLE k (id STRING PRIMARY KEY NOT NULL)",
      "INSERT INTO k VALUES ('7'), ('x')",
    );
    expect(dataOf(await key.get("/api/k/7"))).toEqual({ id: 7 });
    expect(dataOf(await key.get("/api/k/x"))).toEqual({ id: "x" });
    for (const id of ["007", "7.0", "%207"]) {
      expectRefusal(await key.get(`/api/k/${id}`), 404, "not_found");
      expectRefusal(await key.delete(`/api/k/${id}`), 404, "not_found");
    }
    expect(dataOf(await key.delete("/api/k/7"))).toEqual({ id: 7 });
  });

  it("is compared so by rules", async () => {
    const config = `
[rules.t]
read = "row.code != '007' and row.code != '5'"
create = "new.code != '5'"
[rules.owned]
read = "row.owner = auth.id"
[rules.shared]
read = "exists(owned o where o.owner = auth.id and o.id = row.id)"
[rules.known]
read = "exists($users u where u.id = row.owner)"
[rules.named]
read = "exists(owned o where o.owner = row.name)"
[rules.listed]
read = "row.owner in ('07', auth.id)"
[rules.turned]
read = "auth.id in ('none', row.owner)"`;
    const { server } = await pulled(
      config,
      ...table,
      "CREATE TABLE owned (id INTEGER PRIMARY KEY, owner UUID NOT NULL)",
      "CREATE INDEX owners ON owned (owner, id)",
      "CREATE TABLE shared (id INTEGER PRIMARY KEY)",
      "CREATE TABLE known (id INTEGER PRIMARY KEY, owner UUID NOT NULL)",
      "INSERT INTO known VALUES (1, '07'), (2, 'ada'), (3, '7')",
      "CREATE TABLE named (id INTEGER PRIMARY KEY, name TEXT)",
      "CREATE TABLE listed (id INTEGER PRIMARY KEY, owner UUID NOT NULL)",
      "INSERT INTO owned VALUES (1, '7'), (2, 'ada'), (3, 'bob')",
      "INSERT INTO shared SELECT id FROM owned",
      "INSERT INTO named VALUES (1, '7'), (2, '007'), (3, 'ada'), (4, 'eve')",
      "INSERT INTO listed SELECT * FROM owned",
      "CREATE TABLE turned (id INTEGER PRIMARY KEY, owner UUID NOT NULL)",
      "INSERT INTO turned SELECT * FROM owned",
    );
    const as = async (id: string) => client(server, (await member(server, id)).bearer);
    const [seven, zeros, ada] = [await as("7"), await as("007"), await as("ada")];
    expect(await found(ada, "/api/t")).toEqual([1, 2]);
    expectRefusal(await ada.post("/api/t", { code: "5.0" }), 400, "bad_request", ["code"]);
    for (const path of ["/api/owned", "/api/shared", "/api/listed", "/api/turned"]) {
      expect(await found(seven, path), path).toEqual([1]);
      expect(await found(zeros, path), path).toEqual([]);
      expect(await found(ada, path), path).toEqual([2]);
    }
    expect(await found(ada, "/api/named")).toEqual([1, 3]);
    await as("07");
    // The first is shown as 7.
    expect(await found(ada, "/api/known")).toEqual([1, 2, 3]);
    await run(server, "DELETE FROM _users WHERE id = '7'");
    expect(await found(ada, "/api/known")).toEqual([2]);
    // A row and no more, by the index.
    expect(metaOf(await ada.get("/api/owned"))).toMatchObject({ rows_read: 2 });
  });
});

describe("a text column that holds numbers and texts side by side", () => {
  const rules = `
[rules.u]
read = "row.a != '5'"
update = "row.a = '5'"
[rules.link]
read = "exists(u o where o.a = row.name)"
[rules.pair]
read = "row.a = row.b"
[rules.listed]
read = "row.a in ('7', row.b)"
[rules.strict]
read = "row.a = '5'"
[rules.mine]
read = "row.owner = auth.id"`;
  const open = () =>
    pulled(
      rules,
      "CREATE TABLE u (id INTEGER PRIMARY KEY, a)",
      "CREATE INDEX us ON u (a)",
      "INSERT INTO u VALUES (1, 5), (2, '5'), (3, 'x'), (4, 7), (5, 5.5), (6, '007')",
      "CREATE TABLE link (id INTEGER PRIMARY KEY, name TEXT)",
      "INSERT INTO link VALUES (1, '7'), (2, 'x'), (3, '07'), (4, '5.5')",
      "CREATE TABLE pair (id INTEGER PRIMARY KEY, a, b STRING)",
      "INSERT INTO pair VALUES (1, 5, '5'), (2, '5', '5'), (3, '05', '5'), (4, 'x', 'x')",
      "CREATE TABLE listed (id INTEGER PRIMARY KEY, a, b TEXT)",
      "INSERT INTO listed VALUES (1, 7, 'x'), (2, '7', 'x'), (3, 5, '5'), (4, 5, '05'), (5, 'x', 'x')",
      "CREATE TABLE strict (id INTEGER PRIMARY KEY, a ANY) STRICT",
      "INSERT INTO strict VALUES (1, 5), (2, '5'), (3, '05')",
      "CREATE TABLE mine (id INTEGER PRIMARY KEY, owner)",
      "INSERT INTO mine VALUES (1, 7), (2, '7'), (3, '07'), (4, 'ada')",
    );

  it("is filtered as it is shown", async () => {
    const { key } = await open();
    for (const [filter, expected] of [
      ["where[a]=7", [4]],
      ["where[a]=5", [1, 2]],
      ["where[a]=5.5", [5]],
      ["where[a]=5.0", [1]],
      ["where[a]=007", [6]],
      ["where[a]=x", [3]],
      ["filter[a][ne]=5", [3, 4, 5, 6]],
      ["filter[a][ne]=x", [1, 2, 4, 5, 6]],
      ["filter[a][in]=5,x", [1, 2, 3]],
      ["filter[a][not_in]=5,x", [4, 5, 6]],
      // Numbers come before texts.
      ["filter[a][gte]=5", [1, 2, 3, 4, 5, 6]],
      ["filter[a][gt]=5.5", [2, 3, 4, 6]],
      ["filter[a][lt]=7", [1, 5]],
      ["filter[a][lt]=007", [1, 4, 5]],
    ] as const)
      expect(await found(key, `/api/u?${filter}&sort=id`), filter).toEqual(expected);
    // By the index, where the text is no number's.
    expect(metaOf(await key.get("/api/u?where[a]=x"))).toMatchObject({ rows_read: 2 });
    expect(metaOf(await key.get("/api/u?filter[a][gte]=7&sort=a"))).toMatchObject({ rows_read: 8 });
    expect(await found(key, "/api/strict?where[a]=5")).toEqual([1, 2]);
  });

  it("is compared so by rules", async () => {
    const { server } = await open();
    const anyone = client(server);
    expect(await found(anyone, "/api/u")).toEqual([3, 4, 5, 6]);
    for (const filter of ["where[a]=5", "filter[a][in]=5"]) expect(await found(anyone, `/api/u?${filter}`)).toEqual([]);
    expectRefusal(await anyone.get("/api/u/1"), 403, "forbidden");
    const as = async (id: string) => client(server, (await member(server, id)).bearer);
    const [seven, zero, ada] = [await as("7"), await as("07"), await as("ada")];
    expectRefusal(await ada.get("/api/u/1"), 403, "forbidden");
    expect(await found(anyone, "/api/link")).toEqual([1, 2, 4]);
    expect(await found(anyone, "/api/pair")).toEqual([1, 2, 4]);
    expect(await found(anyone, "/api/listed")).toEqual([1, 2, 3, 5]);
    expect(await found(anyone, "/api/strict")).toEqual([1, 2]);
    expect(await found(seven, "/api/mine")).toEqual([1, 2]);
    expect(await found(zero, "/api/mine")).toEqual([3]);
    expect(await found(ada, "/api/mine")).toEqual([4]);
    for (const id of [1, 2]) expect((await ada.patch(`/api/u/${id}`, { a: "5" })).status, String(id)).toBe(200);
    expectRefusal(await ada.patch("/api/u/4", { a: "5" }), 403, "forbidden");
  });

  it("takes every text as it is", async () => {
    const { server, key, notes } = await open();
    expect(notes.narrowed.filter((note) => !note.startsWith("pair.b"))).toEqual([]);
    for (const a of ["5", "007", "1e3", ""]) {
      expect(dataOf(await key.post("/api/u", { a }))).toMatchObject({ a });
      expect(dataOf(await key.patch("/api/strict/1", { a }))).toMatchObject({ a });
    }
    expect(await rowsOf(server, "SELECT count(*) FROM u WHERE id > 6 AND typeof(a) <> 'text'")).toEqual([[0]]);
  });

  it.each([
    ["(k ANY PRIMARY KEY, n INTEGER) STRICT"],
    ["(k PRIMARY KEY NOT NULL, n INTEGER) WITHOUT ROWID"],
    ["(k, n INTEGER, PRIMARY KEY (k))"],
  ])("as a key reaches one row, the text before the number (%s)", async (declared) => {
    const { server, key } = await pulled(
      "",
      `CREATE TABLE anyt ${declared}`,
      "INSERT INTO anyt VALUES (1, 1), ('1', 2), (7, 3), ('x', 4), ('07', 5), (2.0, 6), (2.5, 7)",
    );
    const left = () => rowsOf(server, "SELECT n FROM anyt ORDER BY n");
    for (const [id, n] of [
      ["1", 2],
      ["7", 3],
      ["x", 4],
      ["07", 5],
      ["2.0", 6],
      ["2.5", 7],
    ] as const) {
      const answer = await key.get(`/api/anyt/${id}`);
      expect(dataOf(answer), id).toMatchObject({ n });
      expect(metaOf(answer)).toMatchObject({ rows_read: 1 });
    }
    for (const id of ["7.0", "%207", "+7", "2.50", "2"])
      for (const answer of [await key.get(`/api/anyt/${id}`), await key.delete(`/api/anyt/${id}`)])
        expectRefusal(answer, 404, "not_found");
    expect(dataOf(await key.patch("/api/anyt/1", { n: 12 }))).toEqual({ k: "1", n: 12 });
    expect(await left()).toEqual([[1], [3], [4], [5], [6], [7], [12]]);
    expect(dataOf(await key.delete("/api/anyt/1"))).toEqual({ k: "1" });
    expect(await left()).toEqual([[1], [3], [4], [5], [6], [7]]);
    expect(dataOf(await key.delete("/api/anyt/1"))).toEqual({ k: 1 });
    expectRefusal(await key.delete("/api/anyt/1"), 404, "not_found");
    expect(await left()).toEqual([[3], [4], [5], [6], [7]]);
  });

  it("as a part of a key reaches one row, too", async () => {
    const { server, key } = await pulled(
      "",
      "CREATE TABLE two (a ANY, b ANY, n INTEGER, PRIMARY KEY (a, b)) STRICT",
      "INSERT INTO two VALUES (1, '2', 1), ('1', 2, 2), (1, 2, 3), ('x', 'y', 4)",
    );
    const path = "/api/two/_svc/key?a=1&b=2";
    const get = await key.get(path);
    expect(dataOf(get)).toEqual({ a: "1", b: 2, n: 2 });
    expect(metaOf(get)).toMatchObject({ rows_read: 1 });
    expect(dataOf(await key.delete(path))).toEqual({ a: "1", b: 2 });
    expect(dataOf(await key.get(path))).toEqual({ a: 1, b: "2", n: 1 });
    expect(await rowsOf(server, "SELECT n FROM two ORDER BY n")).toEqual([[1], [3], [4]]);
  });
});

describe("infinities and values of several storage classes", () => {
  const values = [
    "NULL",
    "-9e999",
    "-1e300",
    "9007199254740993",
    "9007199254740992",
    "0.30000000000000004",
    "0.3",
    "5",
    "5.5",
    "9e999",
    "'5'",
    "'a'",
    "'Inf'",
    "'9e999'",
  ];
  const insert = (table: string, more: readonly string[] = []) =>
    `INSERT INTO ${table} (v) VALUES ${[...values, ...more].map((value) => `(${value})`).join(", ")}`;

  it.each([
    ["DATE", [], ""],
    ["", [], ""],
    ["REAL", [], ""],
    ["INT", [], ""],
    ["", ["x'35'", "x'61'", "x''", "'35'"], ""],
    ["BLOB", ["x'35'", "x'ff'", "'ÿ'"], ""],
    ["ANY", ["x'35'"], " STRICT"],
  ])("are listed and paged once each (%s %s)", async (declared, more, strict) => {
    const { server, key } = await pulled(
      "",
      `CREATE TABLE m (id INTEGER PRIMARY KEY, v ${declared})${strict}`,
      "CREATE INDEX vs ON m (v, id)",
      insert("m", more),
    );
    for (const direction of ["", " DESC"]) {
      const order = await rowsOf(server, `SELECT id FROM m ORDER BY v${direction}, id`);
      const pages = await pagesOf(key, `/api/m?sort=${direction === "" ? "" : "-"}v&limit=1`);
      expect(pages.flatMap(({ data }) => idsOf(data))).toEqual(order.map(([id]) => id));
      // The JSON is one that every reader takes, and an infinity is no number of JSON.
      const numbers = pages.flatMap(({ data }) => (typeof data[0]!.v === "number" ? [data[0]!.v] : []));
      expect(numbers.every(Number.isFinite)).toBe(true);
    }
    const [[infinite]] = (await rowsOf(server, "SELECT id FROM m WHERE typeof(v) = 'real' AND v = 9e999")) as [
      [number],
    ];
    if (!more.some((value) => value.startsWith("x")))
      expect(dataOf(await key.get(`/api/m/${infinite}`))).toEqual({ id: infinite, v: null });
  });

  it("a key that is an infinity begins the next page", async () => {
    const { key } = await pulled(
      "",
      "CREATE TABLE k (r REAL PRIMARY KEY NOT NULL)",
      "INSERT INTO k VALUES (-9e999), (1.5), (9e999)",
    );
    const pages = await pagesOf(key, "/api/k?limit=1");
    expect(pages.map(({ data }) => data[0]!.r)).toEqual([null, 1.5, null]);
  });
});

describe("a column with numbers and texts has one order", () => {
  const stored = ["0", "-7", "5", "5.5", "20240220", "20240220.5", "1161380288898609914", "0.30000000000000004"];
  const texts = ["", "2024-02-20", "A5", "é"];
  const asked = [...stored, ...texts, "7.0", "5.50", "1e3", "-1e400", "007", "+5", " 5"];
  const kinds = ["DATE", "", "ANY"];
  const tables = kinds.map((kind, i) => ({ table: `t${i}`, kind }));

  /** The server has one table for each kind of column, and keeps their history. */
  const open = async () => {
    const { server, key } = await pulled(
      "",
      ...tables.flatMap(({ table, kind }) => [
        `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, v ${kind}, n INTEGER)${kind === "ANY" ? " STRICT" : ""}`,
        `CREATE INDEX ${table}_v ON ${table} (v)`,
        `INSERT INTO ${table} (v) VALUES ${[...stored, ...texts.map((text) => `'${text}'`)].map((v) => `(${v})`).join()}`,
      ]),
    );
    const { text } = await pullSchema(server.database);
    const outcome = await applyChange(server.database, `$history: forever\n${text}`, {
      allowDestructive: false,
      now: 2,
    });
    expect(outcome).toMatchObject({ outcome: "applied" });
    return { server, key };
  };

  /** The place of a value in the order: numbers before texts. */
  type Place = readonly [0, number] | readonly [1, string];
  const isNumber = (text: string) => /^-?(0|[1-9]\d*)(\.\d+)?(e\d+)?$/.test(text) && Number.isFinite(Number(text));
  const placeOf = (text: string): Place => (isNumber(text) ? [0, Number(text)] : [1, text]);
  const compare = ([k, a]: Place, [l, b]: Place) =>
    k !== l || k === 0
      ? k - l || Number(a) - Number(b)
      : Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
  const rows = [...stored, ...texts].map((text, i) => ({ id: i + 1, place: placeOf(text) }));
  const operators: readonly (readonly [operator: string, test: (sign: number) => boolean])[] = [
    ["eq", (sign) => sign === 0],
    ["in", (sign) => sign === 0],
    ["ne", (sign) => sign !== 0],
    ["not_in", (sign) => sign !== 0],
    ["lt", (sign) => sign < 0],
    ["lte", (sign) => sign <= 0],
    ["gt", (sign) => sign > 0],
    ["gte", (sign) => sign >= 0],
  ];
  const filters = (texts: readonly string[]) =>
    texts.flatMap((text) =>
      operators.map(([operator, test]) => ({
        operator,
        value: operator.endsWith("in") ? [text] : text,
        expected: rows.filter(({ place }) => test(compare(place, placeOf(text)))).map(({ id }) => id),
      })),
    );
  const queryOf = ({ operator, value }: { operator: string; value: string | string[] }) =>
    `filter[v][${operator}]=${encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value))}`;

  it("in lists", async () => {
    const { key } = await open();
    const sorted = [...rows].sort((a, b) => compare(a.place, b.place)).map(({ id }) => id);
    for (const { table, kind } of tables) {
      expect(await found(key, `/api/${table}?sort=v`), kind).toEqual(sorted);
      for (const filter of filters(asked)) {
        const path = `/api/${table}?sort=id&${queryOf(filter)}`;
        expect(await found(key, path), `${kind} ${path}`).toEqual(filter.expected);
      }
    }
  });

  it("in rules", async () => {
    const config = `
[rules.gte]
read = "row.v >= '20240220'"
[rules.lt]
read = "row.v < '20240220'"
[rules.text]
read = "row.v >= '2024-02-20'"`;
    const filled = (table: string) => [
      `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, v DATE)`,
      `INSERT INTO ${table} VALUES (1, '20240219'), (2, '20240220'), (3, '2024-02-19'), (4, '2024-02-21')`,
    ];
    const { server } = await pulled(config, ...["gte", "lt", "text"].flatMap(filled));
    const anyone = client(server);
    expect(await found(anyone, "/api/gte")).toEqual([2, 3, 4]);
    expect(await found(anyone, "/api/lt")).toEqual([1]);
    expect(await found(anyone, "/api/text")).toEqual([4]);
    expectRefusal(await anyone.get("/api/lt/2"), 403, "forbidden");
  });

  it("in aggregates, states, and copies of clients", async () => {
    const { server, key } = await open();
    for (const { table } of tables)
      for (const filter of filters(["5.50", "20240220", "007"])) {
        const path = `${table} ${queryOf(filter)}`;
        const count = await key.get(`/api/${table}/_svc/aggregate?count=*&${queryOf(filter)}`);
        expect(dataOf(count), path).toEqual([{ count: filter.expected.length }]);
        expect(await found(key, `/api/${table}/_svc/state?at=0&${queryOf(filter)}`), path).toEqual(filter.expected);
        const tables = { [table]: { filter: { v: { [filter.operator]: filter.value } } } };
        const pull = async (checkpoint: string | null) => {
          const { changes, checkpoint: next } = dataOf<Changes>(
            await key.post("/api/_svc/pull", { tables, checkpoint }),
          );
          return { ids: changes.map(({ key }) => Number(key.id)).sort((a, b) => a - b), next };
        };
        const first = await pull(null);
        expect(first.ids, path).toEqual(filter.expected);
        await run(server, `UPDATE ${table} SET n = ifnull(n, 0) + 1`);
        expect((await pull(first.next)).ids, path).toEqual(filter.expected);
        // The state before that change is made of the log's images.
        expect(await found(key, `/api/${table}/_svc/state?at=0&${queryOf(filter)}`), path).toEqual(filter.expected);
      }
  });
});
