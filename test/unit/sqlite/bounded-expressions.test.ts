import Database from "libsql";
import { expect, it } from "vitest";
import { boundSql } from "../../../src/sqlite/bound-sql.js";
import { tooLargeValue, valueBytesMax } from "../../../src/sqlite/bounded-expressions.js";
import { proveSql } from "../../../src/sqlite/proof.js";

const database = new Database(":memory:");
database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT)");
database.exec("INSERT INTO t VALUES (1, 'x', 'y'), (2, 'p''q', 'Z'), (3, NULL, '100%')");

const names = ["a", "b", "n"];
const scope = { tables: new Set(["t"]), others: new Set<string>(), parameters: new Set(names) };
type Values = Readonly<Record<string, unknown>>;

/** The rows that the statement returns, or SQLite's message. */
function run(sql: string, values: Values, isBounded: boolean): unknown {
  const { proved, problems } = proveSql(sql, scope);
  if (proved === undefined) throw new Error(JSON.stringify(problems));
  const { text, parameters } = isBounded
    ? boundSql(proved)
    : { text: sql.replaceAll(/:[abn]\b/g, "?"), parameters: [...sql.matchAll(/:([abn])\b/g)].map(([, name]) => name!) };
  try {
    database.exec("BEGIN");
    return database
      .prepare(text)
      .raw()
      .all(parameters.map((name) => values[name]));
  } catch (error) {
    return (error as Error).message;
  } finally {
    database.exec("ROLLBACK");
  }
}

const bounded = (sql: string, values: Values) => run(sql, values, true);

it.each([
  "select replace(replace(a, 'x', b), 'y', :a) || b as v, hex(a) as h from t",
  "select count(*) || '/' || count(a) as v, group_concat(a || b, ', ') as g from t",
  "select replace(group_concat(b), ',', '; ') as v, max(a || b) as m, count(distinct a || b) as d from t",
  "select row_number() over (order by id desc) || '.' || b as v from t order by id",
  "select group_concat(b) filter (where id > 1) || 'x' as v from t",
  "select group_concat(b) over (partition by a || b order by id) as v from t",
  "select -id || a as v, id + 1 || 'x' as w, -(id || 1) as z, (a || b) as p, not a || b as n from t",
  "select id -> '$' || b as v, json_object('k', a) ->> 'k' || 'q' as w from t where a is null or a = 'x'",
  "select json_object('a', json_array(a, b), 'g', (select json_group_array(a) from t), 'c', case when id = 1 then json('[1]') end) as v from t",
  "select id from t where b like '%' || :a || '%' or a not like 'x' escape '\\' order by id",
  "select id from t where b like '%0!%' escape '!' and id + 1 like '4' or a || b glob 'x*' order by id",
  "select like('%y', b) as v, glob('p*', a) as g, not like('x', a) as n from t",
  "select case when a like 'x%' then a || 'm' else b || 'n' end || 'o' as v from t",
  "select printf('%05d-%s %.*f', id, a, 2, 1.5) || printf(:a, b) as v from t",
  "select instr(b, 'y') as i, trim(b) as t, trim(b, 'y') as u, ltrim(b, 'Z') || rtrim(b, '%') as l from t",
  "select cast(a || b as text) as v, a || b collate nocase = 'XY' as c, t.a || t.\"b\" as q from t",
  "with w(v) as (select a || b from t), hex(v) as (select 'r') select w.v || hex.v as v from w, hex order by 1",
  "select v || :b as v from (select a || b as v from t) where v || 'k' = 'xyk'",
  "select id from t where exists (select 1 from t as u where u.id || '' = t.id || '') || '' = '1' order by a || b, id",
  "insert into t (a, b) values (:a || :b, replace(:a, 'l', hex(:b))), (quote(:a), 'v') returning a, b",
  "insert into t (id, a) values (1, 'n') on conflict (id) do update set a = a || excluded.a, b = t.b || :a returning a, b",
  "insert into t (a) select a || :a from t where a like 'x' returning a || '!' as v",
  "update t set a = coalesce(a, '') || :a, (b) = (b || 'x') where id || '' in ('1', '2') returning replace(a, 'x', b) as v",
  "update t set b = t.b || o.v from (select 'oo' as v) as o where t.id = 1 returning b",
  "delete from t where a || b = 'xy' returning id || '' as v",
  "select concat(a, :a) || concat_ws('-', a, b) as v, strftime('%Y', '2020-01-01') || char(65) as s from t",
])("a statement whose values are bounded does the same: %s", (sql) => {
  for (const a of ["hello", "%s|%s", "", null]) {
    const values = { a, b: "b'", n: 3 };
    const plain = run(sql, values, false);
    expect(typeof plain === "string" && !plain.startsWith("bad JSON path"), String(plain)).toBe(false);
    expect(bounded(sql, values)).toEqual(plain);
  }
});

const long = (bytes: number) => "a".repeat(bytes);
const half = valueBytesMax / 2;

it.each([
  ["select length(:a || :b) as v", { a: long(half), b: long(half) }, { b: long(half + 1) }],
  ["select length(replace(:a, 'a', :b)) as v", { a: long(half / 1024), b: long(2048) }, { b: long(2049) }],
  ["select length(replace(:a, 'b', :b)) as v", { a: `${long(half)}b`, b: long(half) }, { b: long(half + 1) }],
  ["select length(printf('%*d', :n, 1)) as v", { n: valueBytesMax }, { n: valueBytesMax + 1 }],
  ["select length(printf('%0*d', :n, 1)) as v", { n: 10 }, { n: 500_000_000 }],
  ["select length(printf('%.*c', :n, 'x')) as v", { n: valueBytesMax }, { n: valueBytesMax + 1 }],
  ["select length(printf(:a, 1)) as v", { a: "%9999d" }, { a: "%99999999d" }],
  ["select length(printf(:a, :n, 1)) as v", { a: "%*d", n: 7 }, { n: 500_000_000 }],
  ["select length(hex(:a)) as v", { a: long(half) }, { a: long(half + 1) }],
  ["select length(quote(:a)) as v", { a: long(valueBytesMax - 2) }, { a: long(valueBytesMax - 1) }],
  ["select length(json_array(:a)) as v", { a: long(valueBytesMax - 4) }, { a: long(valueBytesMax - 3) }],
  ["select length(concat(:a, :b)) as v", { a: long(half), b: long(half) }, { b: long(half + 1) }],
  ["select length(group_concat(:a, '')) as v from t", { a: long(1_000_000) }, { a: long(1_400_000) }],
  ["select length(replace(hex(zeroblob(1000)), '0', :a)) as v", { a: long(2000) }, { a: long(900_000) }],
  ["update t set a = replace(a || 'x', 'x', :a) where id = 1 returning id", { a: long(half) }, { a: long(half + 1) }],
  [
    "insert into t (a) values (:a || :a || :a || :b) returning id",
    { a: long(1_000_000), b: "" },
    { b: long(1_194_305) },
  ],
  ["select :a like '%' || :b as v", { a: long(1_000_000), b: "ab" }, { b: `${long(1000)}b` }],
  ["select id from t where not (:a glob :b)", { a: long(1000), b: "*b" }, { a: long(100_000), b: `*${long(10_000)}b` }],
  ["select length(trim(:a, :b)) as v", { a: long(1_000_000), b: "bc" }, { b: long(1000) }],
  ["select instr(:a, :b) as v", { a: long(valueBytesMax), b: "ab" }, { b: `${long(1000)}b` }],
])("%s ends where a value is too large, or would take too long", (sql, fitting, changed) => {
  expect(typeof bounded(sql, fitting)).toBe("object");
  expect(bounded(sql, { ...fitting, ...changed })).toContain(tooLargeValue);
});

it("an index still serves what it served", () => {
  database.exec("CREATE INDEX t_a ON t (a)");
  const plan = (sql: string) => {
    const { text, parameters } = boundSql(proveSql(sql, scope).proved!);
    const rows = database
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .raw()
      .all(parameters.map(() => "x*"));
    return JSON.stringify(rows);
  };
  expect(plan("select id from t where a = :a || :b")).toContain("SEARCH t USING COVERING INDEX t_a");
  expect(plan("select id from t where a glob 'x*'")).toContain("SEARCH t USING COVERING INDEX t_a");
});
