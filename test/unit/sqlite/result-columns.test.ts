import { describe, expect, test } from "vitest";
import { proveSql } from "../../../src/sqlite/proof.js";
import { resultItems, targetTable } from "../../../src/sqlite/result-columns.js";

const scope = {
  tables: new Set(["accounts", "entries"]),
  others: new Set<string>(),
  parameters: new Set(["id"]),
};

const proved = (sql: string) => proveSql(sql, scope).proved!;

/** The items as `name` or `name = table.column`. */
function itemsOf(sql: string): readonly string[] | string | null {
  const found = resultItems(proved(sql));
  if (found === null) return null;
  return (
    found.problem?.message ??
    found.items!.map(({ name, column }) => (column === null ? name : `${name} = ${column.table}.${column.name}`))
  );
}

describe("the columns that a statement returns", () => {
  test.each<readonly [sql: string, items: readonly string[]]>([
    ["select id from accounts", ["id = accounts.id"]],
    ["select distinct ID as key from Accounts where 1", ["key = accounts.ID"]],
    [
      'select a."id", e.note as "text" from accounts a join entries as e on e.id = a.id',
      ["id = accounts.id", "text = entries.note"],
    ],
    ["select id from accounts left join entries using (id)", ["id"]],
    ["select a.id, b.id as other from accounts a, entries b order by 1", ["id = accounts.id", "other = entries.id"]],
    [
      "select id, count(*) as n, (select 1, 2 from entries) as s from accounts group by id, n",
      ["id = accounts.id", "n", "s"],
    ],
    ["select id from accounts, json_each('[]') as j", ["id"]],
    ["select a.id, j.value as v from accounts a, json_each('[]') as j", ["id = accounts.id", "v"]],
    ["select id from (select 1 as id) as accounts", ["id"]],
    ["with accounts as (select 1 as id) select id from accounts", ["id"]],
    ["with t(id) as (select 1) select t.id, a.id as own from t, accounts a", ["id", "own = accounts.id"]],
    ["select id from accounts union select id from entries", ["id"]],
    ["select case when id then 'from' else ',' end as c, :id as p", ["c", "p"]],
    ["select id from accounts not indexed where id = 1", ["id = accounts.id"]],
    ["insert into entries (id) select id from accounts returning id, id + 1 as next", ["id = entries.id", "next"]],
    ["update accounts as a set id = (select id from entries) from entries where 1 returning id", ["id = accounts.id"]],
    ["with entries as (select 1) delete from accounts returning accounts.id", ["id = accounts.id"]],
  ])("%s", (sql, items) => {
    expect(itemsOf(sql)).toEqual(items);
  });

  test.each([
    ["select * from accounts", "name the columns that it returns, instead of *"],
    ["select id, a.* from accounts a", "name the columns that it returns, instead of *"],
    ["select count(*) from accounts", "an expression that is returned needs AS and a name"],
    ["select id other from accounts", "an expression that is returned needs AS and a name"],
    ["select 'x' from accounts", "an expression that is returned needs AS and a name"],
    ["select id, from accounts", "expected a column or an expression with AS and a name"],
  ])("%s: %s", (sql, message) => {
    expect(itemsOf(sql)).toBe(message);
  });

  test("a write without RETURNING returns none", () => {
    expect(itemsOf("delete from accounts")).toBeNull();
  });
});

test.each([
  ["select id from accounts", null],
  ["insert or ignore into Entries (id) select id from accounts", "entries"],
  ["with t as (select id from entries) update accounts set id = 1", "accounts"],
  ["delete from 'accounts' where id in (select id from entries)", "accounts"],
])("the table that a statement writes to: %s", (sql, table) => {
  expect(targetTable(proved(sql))).toBe(table);
});
