import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalFragment, fragmentProblem, sameFragment, withRenamedColumns } from "../../../src/sqlite/fragment.js";
import { mentions, quoteName, quoteText, tokenize } from "../../../src/sqlite/sql-tokens.js";
import { indexCondition, parseTableDdl } from "../../../src/sqlite/table-ddl.js";

describe("tokens", () => {
  it("are SQLite's", () => {
    const kinds = tokenize("a \"b\"\"c\" `d``e` [f g] 'h''i' x'0f' 1.5e-3 .5 0xff ?1 :n || -- end").map(
      ({ kind, value }) => [kind, value],
    );
    expect(kinds).toEqual([
      ["word", "a"],
      ["quoted", 'b"c'],
      ["quoted", "d`e"],
      ["quoted", "f g"],
      ["string", "h'i"],
      ["blob", "x'0f'"],
      ["number", "1.5e-3"],
      ["number", ".5"],
      ["number", "0xff"],
      ["parameter", "?1"],
      ["parameter", ":n"],
      ["symbol", "||"],
      ["comment", "-- end"],
    ]);
  });

  it("lose no character but space", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (sql) => {
        const text = tokenize(sql).map((token) => token.text);
        expect(text.join("").replaceAll(/[ \t\n\f\r]/g, "")).toBe(sql.replaceAll(/[ \t\n\f\r]/g, ""));
      }),
    );
  });

  it("quoted, are one token that reads back", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(tokenize(quoteName(text)).map(({ kind, value }) => [kind, value])).toEqual([["quoted", text]]);
        expect(tokenize(quoteText(text)).map(({ kind, value }) => [kind, value])).toEqual([["string", text]]);
      }),
    );
  });

  it("mention a name in any case, quoted or not, and not inside of another", () => {
    expect(["SELECT a FROM Rooms", 'x."rooms"', "[ROOMS]"].map((sql) => mentions(sql, "rooms"))).toEqual([
      true,
      true,
      true,
    ]);
    expect(["SELECT a FROM roomsy", "-- rooms", "'the rooms'"].map((sql) => mentions(sql, "rooms"))).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe("an expression of the owner's", () => {
  it.each([
    "length(name) between 1 and 80",
    "a IN (1, 2, 3) or a is not null",
    'case when "a" > 0x1f then 1 else -1.5e3 end',
    "name like 'a%' escape '\\' collate nocase",
    "cast(a as integer) is not distinct from 5",
    "json_extract(name, '$.a; -- (') ->> 'b' <> ''",
    "strftime('%s', 'now') || x'00'",
    "trim(name) = name and not (a and name is null)",
  ])("may be %s", (sql) => {
    expect(fragmentProblem(sql, ["name", "A"])).toBe(null);
  });

  it("is the same in other spaces, cases, quotes and parentheses", () => {
    expect(sameFragment("(a > 1 AND b = 'X')", "A>1.0 and \"B\"='X'")).toBe(true);
    expect(sameFragment("a > 1", "a > 2")).toBe(false);
    expect(sameFragment("a = 'x'", "a = 'X'")).toBe(false);
    expect(sameFragment("(a) and (b)", "a) and (b")).toBe(false);
    expect(canonicalFragment("9007199254740993")).toBe("9007199254740993");
    expect(sameFragment(null, null)).toBe(true);
    expect(sameFragment(null, "a")).toBe(false);
  });

  it("follows a rename of its columns, and of nothing else", () => {
    const renames = new Map([
      ["lower", "short"],
      ["name", "title"],
    ]);
    expect(withRenamedColumns("lower(Name) <> 'name' and lower is not \"name\"", renames)).toBe(
      'lower("title") <> \'name\' and "short" is not "title"',
    );
  });
});

describe("CREATE TABLE, as SQLite keeps it", () => {
  it("gives checks, collations and clauses, by column", () => {
    const ddl = parseTableDdl(`CREATE TABLE "t, (" (
      a TEXT COLLATE nocase CHECK (a <> ')' /* ) */ AND (a > 1)) CHECK(a),
      "b c" DECIMAL(10, 2) DEFAULT (coalesce(1, 2)) -- CHECK (no)
        CONSTRAINT named CHECK ([b c] > 0),
      d INTEGER PRIMARY KEY AUTOINCREMENT COLLATE BINARY,
      e UNIQUE ON CONFLICT IGNORE REFERENCES x (y) DEFERRABLE INITIALLY DEFERRED,
      f DEFAULT 'a, COLLATE b',
      CHECK (a < d), CONSTRAINT more CHECK (f), FOREIGN KEY (a) REFERENCES z NOT DEFERRABLE
    ) STRICT`);
    expect(ddl).toEqual({
      columns: new Map([
        ["a", { checks: ["a <> ')' AND (a > 1)", "a"], collation: "nocase", deferrable: "NOT DEFERRABLE" }],
        ["b c", { checks: ["[b c] > 0"], collation: null, deferrable: null }],
        ["d", { checks: [], collation: null, deferrable: null }],
        ["e", { checks: [], collation: null, deferrable: "DEFERRABLE INITIALLY DEFERRED" }],
        ["f", { checks: [], collation: null, deferrable: null }],
      ]),
      checks: ["a < d", "f"],
      namedChecks: new Map([
        ["named", "[b c] > 0"],
        ["more", "f"],
      ]),
      autoincrement: true,
      clauses: ["ON CONFLICT IGNORE"],
    });
    expect(parseTableDdl("CREATE TABLE t")).toBe(null);
  });

  it("and an index its condition", () => {
    expect(indexCondition("CREATE INDEX i ON t (a) WHERE (a > 1) -- x\n AND b")).toBe("(a > 1) AND b");
    expect(indexCondition("CREATE INDEX \"where\" ON t (lower('where'))")).toBe(null);
  });
});
