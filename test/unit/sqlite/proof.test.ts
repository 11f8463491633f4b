import { describe, expect, test } from "vitest";
import { boundSql } from "../../../src/sqlite/bound-sql.js";
import { type ProofScope, proveSql } from "../../../src/sqlite/proof.js";

const scope: ProofScope = {
  tables: new Set(["accounts", "entries"]),
  others: new Set(["secrets", "_notes"]),
  parameters: new Set(["from", "to", "cents"]),
};

function problemsOf(sql: string, within = scope): readonly string[] {
  return (proveSql(sql, within).problems ?? []).map(({ message }) => message);
}

describe("what is proved", () => {
  test.each([
    ["select", "select id, cents from accounts where id = :from"],
    ["select", "SELECT a.id FROM accounts AS a JOIN json_each(:from) j ON j.value = a.id"],
    ["select", "with top(id, n) as materialized (select id, count(*) from entries group by id) select * from top"],
    ["select", "with recursive n(i) as (values (1) union all select i + 1 from n where i < 5) select i from n"],
    [
      "select",
      "select sum(cents) over (partition by id order by cents rows between 1 preceding and current row) from accounts",
    ],
    ["insert", "insert into entries (id, cents) values (lower(hex(randomblob(16))), :cents)"],
    ["insert", "insert into entries as e (id) values (1) on conflict (id) do update set cents = excluded.cents"],
    ["insert", "insert or ignore into entries (id) select id from accounts"],
    ["insert", "insert into \"entries\" (id) values ('text with _ and ; and -- and :x') returning id"],
    ["update", "with t as (select id from entries) update accounts set cents = replace('a', 'b', 'c') where id in t"],
    ["delete", "delete from [entries] where id between (:from) and (:to)"],
  ])("%s: %s", (kind, sql) => {
    const { proved, problems } = proveSql(sql, scope);
    expect(problems).toBeUndefined();
    expect(proved?.kind).toBe(kind);
  });

  test("the tables and table functions that it names", () => {
    const { proved } = proveSql('select 1 from Accounts, "ENTRIES", json_tree(:from)', scope);
    expect([...proved!.tables].toSorted()).toEqual(["accounts", "entries"]);
    expect([...proved!.tableFunctions]).toEqual(["json_tree"]);
  });

  test("parameters become placeholders, in order, and texts stay", () => {
    const { proved } = proveSql("select ':to ?' from accounts where id=:from or id=:to or cents>:from", scope);
    expect(boundSql(proved!)).toEqual({
      text: "select ':to ?' from accounts where id=? or id=? or cents>?",
      parameters: ["from", "to", "from"],
    });
    expect(boundSql(proved!, 0, 2).text).toBe("select ':to ?'");
  });

  test("RAISE in a trigger", () => {
    const inTrigger = { ...scope, isInTrigger: true };
    expect(problemsOf("select raise(abort, 'no') from accounts", inTrigger)).toEqual([]);
    expect(problemsOf("select raise(rollback, 'no')", inTrigger)).toEqual(["RAISE takes ABORT or IGNORE here"]);
    expect(problemsOf("select raise(abort, 'no')")).toEqual(["unknown function raise"]);
  });
});

describe("what is refused", () => {
  test.each([
    "pragma table_info(accounts)",
    "attach 'x' as y",
    "create table t (id)",
    "drop table accounts",
    "replace into accounts (id) values (1)",
    "with t as (select 1) replace into accounts (id) select * from t",
    "vacuum",
    "explain select 1",
    "begin",
    "values (1)",
    "",
    "select 1; select 2",
    "select 1;",
    "(select 1)",
  ])("another statement, or more than one: %s", (sql) => {
    expect(problemsOf(sql)).not.toEqual([]);
  });

  test.each([
    "select * from _users",
    "select * from _USERS",
    'select * from "_users"',
    "select * from [_users]",
    "select * from `_users`",
    "select * from '_users'",
    "delete from '_users'",
    "select * from main._users",
    "select * from main.accounts",
    "select * from temp . accounts",
    'select * from "main".accounts',
    "select * from secrets",
    "select 1 where 1 in Secrets",
    "select * from 'SECRETS'",
    "select * from _notes",
    "select * from sqlite_master",
    "select * from 'sqlite_schema'",
    "select * from pragma_table_list",
    "select * from pragma_table_info('accounts')",
    "select * from _cf_KV",
    "select * from dbstat",
    "select * from accounts where exists (select 1 from _users)",
    "insert into _users (id) values (1)",
    "update _users set role = 'admin'",
    "select _rowid_ from accounts",
  ])("a table that is not declared: %s", (sql) => {
    expect(problemsOf(sql)).not.toEqual([]);
  });

  test.each([
    "select load_extension('x')",
    "select readfile('/etc/passwd')",
    "select \"readfile\"('/etc/passwd')",
    "select [readfile] ('/etc/passwd')",
    "select 1, readfile('x') as content",
    "select 1 from accounts, readfile('x') as content",
    "select writefile('x', 'y')",
    "select edit('x')",
    "select fts3_tokenizer('simple')",
    "select sqlite_version()",
    "select last_insert_rowid()",
    "select changes()",
    "select randomblob(:cents)",
    "select zeroblob(1000000000)",
    "select zeroblob(1 << 30)",
    "select * from generate_series(1, 9)",
  ])("a function that is not listed: %s", (sql) => {
    expect(problemsOf(sql)).not.toEqual([]);
  });

  test.each(["?", "?1", "@from", "$from", "#from", ":other", ":", "::from", ":from$x", ":from(cents)", ":from::to"])(
    "a parameter: %s",
    (parameter) => {
      expect(problemsOf(`select id from accounts where id = ${parameter}`)).not.toEqual([]);
    },
  );

  test.each([
    "insert or replace into accounts (id) values (1)",
    "update or replace accounts set id = 1",
    "update or rollback accounts set id = 1",
    "insert or fail into accounts (id) values (1)",
  ])("a conflict that undoes or deletes more: %s", (sql) => {
    expect(problemsOf(sql)).not.toEqual([]);
  });

  test.each([
    "select 1 -- comment",
    "select /* comment */ 1",
    "select 1 /* open",
    "select 'open",
    "select 1\0",
    // SQLite takes a byte order mark for a space.
    "select * from \ufeff_users",
    "select '\ud800'",
    "select (1",
    "select 1)",
    "select 1 collate mine",
    `select ${"1 + ".repeat(5000)}1`,
    `select ${":from + ".repeat(90)}:from`,
  ])("a text that is not plain SQL: %s", (sql) => {
    expect(problemsOf(sql)).not.toEqual([]);
  });

  test("all problems at once, each at its place", () => {
    expect(proveSql("select evil(1) from _users where id = :who", scope).problems).toEqual([
      { at: 7, message: "unknown function evil" },
      { at: 20, message: "_users is a name of the server's or of SQLite's own" },
      { at: 38, message: "unknown parameter :who" },
    ]);
  });
});
