import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { abortText } from "../../src/platform/abort.js";
import {
  AbortError,
  ConstraintError,
  type Database,
  type Result,
  type SqlValue,
  type Statement,
  UnavailableError,
} from "../../src/platform/database.js";

export interface OpenedDatabase {
  readonly database: Database;
  /** Removes what `open` created; the database is closed before. */
  readonly dispose?: () => Promise<void>;
}

/** What a backend cannot do, with the reason. */
export interface Exceptions {
  readonly raiseRollback?: string;
  readonly foreignKeysOff?: string;
  readonly deferredKeys?: string;
}

/** What every implementation of Database must do. `open` gives an empty database that nobody else uses. */
export function databaseContract(
  name: string,
  open: () => Promise<OpenedDatabase>,
  { raiseRollback, foreignKeysOff, deferredKeys }: Exceptions = {},
): void {
  /** As `it.skipIf`, with the reason in the test's name. */
  const unless = (reason: string | undefined) => (title: string, test: () => Promise<void>) =>
    reason === undefined ? it(title, test) : it.skip(`${title} (not here: ${reason})`, test);
  describe(`Database contract: ${name}`, () => {
    let opened: OpenedDatabase;
    let database: Database;

    beforeEach(async () => {
      opened = await open();
      database = opened.database;
    });

    afterEach(async () => {
      await database.close();
      await opened.dispose?.();
    });

    const run = (text: string, ...params: SqlValue[]) => database.batch([sql(text, ...params)]);
    const rows = async (text: string, ...params: SqlValue[]) => (await database.query([sql(text, ...params)]))[0]!.rows;

    describe("values", () => {
      it.each<[string, SqlValue, string]>([
        ["NULL", null, "null"],
        ["an integer", 5n, "integer"],
        ["a whole number", 5, "real"],
        ["a fraction", -1.5, "real"],
        ["the largest double", Number.MAX_VALUE, "real"],
        ["text", "a 'quoted' ? – \u{1f511}\n", "text"],
        ["empty text", "", "text"],
        ["bytes", new Uint8Array([0, 1, 255]), "blob"],
        ["a part of a buffer", new Uint8Array([9, 1, 2, 9]).subarray(1, 3), "blob"],
        ["no bytes", new Uint8Array(0), "blob"],
      ])("returns %s as it was bound", async (_name, value, type) => {
        await database.migrate([sql("CREATE TABLE stored (value ANY) STRICT")]);
        await run("INSERT INTO stored VALUES (?)", value);
        const expected = typeof value === "bigint" ? Number(value) : value;
        expect(await rows("SELECT value, typeof(value) FROM stored")).toStrictEqual([[expected, type]]);
      });

      it.each([2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n])("stores the integer %s exactly", async (value) => {
        await database.migrate([sql("CREATE TABLE stored (value INTEGER) STRICT")]);
        await run("INSERT INTO stored VALUES (?)", value);
        expect(await rows("SELECT CAST(value AS TEXT) FROM stored")).toEqual([[String(value)]]);
        expect(await rows("SELECT value FROM stored WHERE value = ?", value)).toEqual([[Number(value)]]);
      });

      it("stores an integer in a TEXT column without a fraction", async () => {
        await database.migrate([sql("CREATE TABLE stored (value TEXT) STRICT")]);
        await run("INSERT INTO stored VALUES (?)", 5n);
        expect(await rows("SELECT value FROM stored")).toEqual([["5"]]);
      });

      it.each<[string, unknown]>([
        ["a boolean", true],
        ["undefined", undefined],
        ["an object", {}],
        ["NaN", Number.NaN],
        ["an infinity", Number.POSITIVE_INFINITY],
        ["an integer of 65 bits", 2n ** 63n],
        ["text with NUL", "a\0b"],
        ["text with a lone surrogate", "a\ud800"],
      ])("refuses to bind %s", async (_name, value) => {
        await expect(rows("SELECT ?", value as SqlValue)).rejects.toThrow(TypeError);
        await expect(run("SELECT ?", value as SqlValue)).rejects.toThrow(TypeError);
      });

      it("refuses parameters that do not match the placeholders", async () => {
        await expect(rows("SELECT ? AS a, ? AS b", 1n)).rejects.toThrow(Error);
        await expect(rows("SELECT ?", 1n, 2n)).rejects.toThrow(Error);
        await expect(run("SELECT 1", null)).rejects.toThrow(Error);
      });

      it("does not take a question mark in a literal, a name or a comment for a placeholder", async () => {
        const text = `SELECT 'it''s ?' AS a, "?" AS b, [?] AS c, ? AS d /* ? */ FROM (SELECT 1 AS "?") -- ?`;
        expect(await rows(text, "bound")).toEqual([["it's ?", 1, 1, "bound"]]);
      });
    });

    describe("query", () => {
      it("answers each statement in order", async () => {
        const results = await database.query([
          sql("SELECT 1 AS number, 'a' AS letter UNION ALL SELECT 2, 'b'"),
          sql("SELECT 3 AS number WHERE 0"),
        ]);
        expect(results).toEqual([
          {
            rows: [
              [1, "a"],
              [2, "b"],
            ],
            rowsWritten: 0,
          },
          { rows: [], rowsWritten: 0 },
        ]);
      });

      it("returns every row of a long list", async () => {
        const list = JSON.stringify(Array.from({ length: 1000 }, (_, index) => index));
        expect(await rows("SELECT value FROM json_each(?)", list)).toHaveLength(1000);
      });

      it("rejects what SQLite does not understand", async () => {
        await expect(rows("SELECT 1 FROM nowhere")).rejects.toThrow(/nowhere/);
      });
    });

    describe("batch", () => {
      beforeEach(() => database.migrate([sql("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE) STRICT")]));

      it("runs statements in order and lets later ones see earlier ones", async () => {
        const results = await database.batch([
          sql("INSERT INTO item VALUES (1, 'a')"),
          sql("UPDATE item SET name = 'b' RETURNING id, name"),
          sql("SELECT name FROM item"),
          sql("DELETE FROM item"),
        ]);
        expect(results.map((result) => result.rows)).toEqual([[], [[1, "b"]], [["b"]], []]);
        expect(await rows("SELECT * FROM item")).toEqual([]);
      });

      it.each<[string, Statement]>([
        ["a constraint", sql("INSERT INTO item VALUES (2, 'a')")],
        ["a mistake", sql("INSERT INTO nowhere VALUES (1)")],
        ["a parameter too many", sql("INSERT INTO item VALUES (3, 'c')", 1n)],
      ])("keeps nothing when a later statement fails by %s", async (_name, failing) => {
        const batch = database.batch([sql("INSERT INTO item VALUES (1, 'a')"), failing]);
        await expect(batch).rejects.toThrow(Error);
        expect(await rows("SELECT * FROM item")).toEqual([]);
      });

      it("runs a RETURNING statement to its end", async () => {
        const list = JSON.stringify(Array.from({ length: 250 }, (_, index) => index));
        const [result] = await run(
          "INSERT INTO item SELECT value, 'name ' || value FROM json_each(?) RETURNING id",
          list,
        );
        expect(result?.rows).toHaveLength(250);
        expect(result?.rowsWritten).toBe(250);
        expect(await rows("SELECT count(*) FROM item")).toEqual([[250]]);
      });

      it("is undone by a statement that says why", async () => {
        await run("CREATE TABLE t (a)");
        await run("INSERT INTO t VALUES (1)");
        const held = "SELECT CASE WHEN changes() = ? THEN 1 ELSE json_extract('{}', ?) END AS held";
        const text = abortText("0123456789abcdef0123456789abcdef", "3:conflict");
        const changed = (changes: bigint) =>
          database.batch([sql("UPDATE t SET a = a + 1 RETURNING a"), sql("SELECT 1 AS one"), sql(held, changes, text)]);
        await changed(1n);
        const error: unknown = await changed(2n).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(AbortError);
        expect(error).toMatchObject({ nonce: "0123456789abcdef0123456789abcdef", reason: "3:conflict" });
        expect(await rows("SELECT a FROM t")).toEqual([[2]]);
      });

      it("accepts no statements", async () => {
        expect(await database.batch([])).toEqual([]);
      });

      it.each(["", " RETURNING id"])(
        "tells the next statement by changes() what the last one did%s",
        async (returning) => {
          await run("INSERT INTO item VALUES (1, 'unused')");
          const use = () =>
            database.batch([
              sql(`UPDATE item SET name = 'used' WHERE id = 1 AND name = 'unused'${returning}`),
              sql("INSERT INTO item SELECT 2, 'receipt' WHERE changes() = 1"),
              sql("INSERT INTO item SELECT 3, 'second receipt' WHERE changes() = 1"),
            ]);
          expect((await use()).map((result) => result.rowsWritten)).toEqual([1, 1, 1]);
          expect((await use()).map((result) => result.rowsWritten)).toEqual([0, 0, 0]);
          expect(await rows("SELECT id FROM item ORDER BY id")).toEqual([[1], [2], [3]]);
        },
      );

      it.each<[string, string, (id: number) => boolean]>([
        ["fail alone", "ABORT", (id) => id % 7 === 0],
        ["roll back everything", "ROLLBACK", (id) => id % 50 === 0],
      ])("keeps exactly the batches that it acknowledged when some %s", async (_name, action, isRefused) => {
        if (action === "ROLLBACK" && raiseRollback !== undefined) return;
        await database.migrate([
          sql("CREATE TABLE half (id INTEGER PRIMARY KEY, refused INTEGER NOT NULL) STRICT"),
          sql(`CREATE TRIGGER half_refused BEFORE INSERT ON half WHEN new.refused
                 BEGIN SELECT RAISE(${action}, 'refused'); END`),
        ]);
        const ids = Array.from({ length: 200 }, (_, index) => index + 1);
        const outcomes = await Promise.allSettled(
          ids.map((id) =>
            database.batch([
              sql("INSERT INTO item VALUES (?, ?)", BigInt(id), `name ${id}`),
              sql("INSERT INTO half VALUES (?, ?)", BigInt(id), BigInt(isRefused(id))),
            ]),
          ),
        );
        const kept = ids.filter((_, index) => outcomes[index]!.status === "fulfilled");
        const wrongly = outcomes.filter((outcome, index) => outcome.status === "rejected" && !isRefused(ids[index]!));
        expect(wrongly).toEqual([]);
        expect(kept).toEqual(ids.filter((id) => !isRefused(id)));
        expect(await rows("SELECT id FROM item ORDER BY id")).toEqual(kept.map((id) => [id]));
        expect(await rows("SELECT id FROM half ORDER BY id")).toEqual(kept.map((id) => [id]));
      });
    });

    it("is unavailable as long as the server's own tables are not there", async () => {
      await expect(rows("SELECT 1 AS one FROM _missing")).rejects.toThrow(UnavailableError);
      await expect(run("DELETE FROM _missing")).rejects.toThrow(UnavailableError);
      await expect(rows("SELECT 1 AS one FROM missing")).rejects.not.toThrow(UnavailableError);
    });

    describe("constraints", () => {
      beforeEach(() =>
        database.migrate([
          sql(`CREATE TABLE room (
                 id INTEGER PRIMARY KEY,
                 name TEXT NOT NULL UNIQUE CHECK (length(name) < 9),
                 size INTEGER
               ) STRICT`),
          sql("CREATE TABLE message (id TEXT PRIMARY KEY, room_id INTEGER REFERENCES room) STRICT, WITHOUT ROWID"),
          sql("CREATE TABLE owner (room_id INTEGER NOT NULL REFERENCES room ON DELETE RESTRICT) STRICT"),
          sql("CREATE TABLE later (room_id INTEGER REFERENCES room DEFERRABLE INITIALLY DEFERRED) STRICT"),
          sql(
            "CREATE TRIGGER room_shut BEFORE INSERT ON room WHEN new.name = 'shut' BEGIN SELECT RAISE(ABORT, 'is shut'); END",
          ),
          sql(
            "CREATE TRIGGER room_back BEFORE INSERT ON room WHEN new.name = 'back' BEGIN SELECT RAISE(ROLLBACK, 'go back'); END",
          ),
          sql("INSERT INTO room VALUES (1, 'hall', 10)"),
          sql("INSERT INTO message VALUES ('m1', 1)"),
          sql("INSERT INTO room VALUES (2, 'owned', 10)"),
          sql("INSERT INTO owner VALUES (2)"),
        ]),
      );

      it.each<[string, string, string, RegExp]>([
        ["NOT NULL", "INSERT INTO room VALUES (3, NULL, 1)", "not_null", /room\.name/],
        ["UNIQUE", "INSERT INTO room VALUES (3, 'hall', 1)", "unique", /room\.name/],
        ["PRIMARY KEY", "INSERT INTO message VALUES ('m1', NULL)", "unique", /message\.id/],
        ["INTEGER PRIMARY KEY", "INSERT INTO room VALUES (1, 'new', 1)", "unique", /room\.id/],
        ["CHECK", "INSERT INTO room VALUES (3, 'far too long', 1)", "check", /^CHECK constraint failed$/],
        ["a type", "INSERT INTO room VALUES (3, 'new', 'wide')", "datatype", /room\.size/],
        ["a rowid's type", "INSERT INTO room VALUES ('three', 'new', 1)", "datatype", /mismatch/],
        ["a missing parent", "INSERT INTO message VALUES ('m2', 77)", "foreign_key", /FOREIGN KEY/],
        ["a deferred key", "INSERT INTO later VALUES (77)", "foreign_key", /FOREIGN KEY/],
        ["a remaining child", "DELETE FROM room WHERE id = 1", "foreign_key", /FOREIGN KEY/],
        ["RESTRICT", "DELETE FROM room WHERE id = 2", "foreign_key", /FOREIGN KEY/],
        ["RAISE(ABORT)", "INSERT INTO room VALUES (3, 'shut', 1)", "trigger", /is shut/],
        ["RAISE(ROLLBACK)", "INSERT INTO room VALUES (3, 'back', 1)", "trigger", /go back/],
      ])("names the kind when %s is broken", async (_name, failing, kind, message) => {
        if (failing.includes("'back'") && raiseRollback !== undefined) return;
        if (failing.includes("INTO later") && deferredKeys !== undefined) return;
        const error = await run(failing).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(ConstraintError);
        expect(error).toMatchObject({ kind, message: expect.stringMatching(message) });
        expect(error).not.toMatchObject({ message: expect.stringContaining("INSERT") });
        const details: Record<string, string> = {
          check: "length(name) < 9",
          trigger: (error as Error).message,
        };
        expect(error).toMatchObject({ detail: details[kind] ?? null });
        await run("INSERT INTO room VALUES (4, 'still', 1)");
      });

      unless(deferredKeys)("checks a deferred key at the end of its own batch, not of its neighbours'", async () => {
        const outcomes = await Promise.allSettled([
          run("INSERT INTO room VALUES (5, 'before', 1)"),
          run("INSERT INTO later VALUES (77)"),
          database.batch([sql("INSERT INTO later VALUES (6)"), sql("INSERT INTO room VALUES (6, 'parent', 1)")]),
          run("INSERT INTO room VALUES (7, 'after', 1)"),
        ]);
        expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
        expect(await rows("SELECT room_id FROM later")).toEqual([[6]]);
        expect(await rows("SELECT id FROM room WHERE id > 4 ORDER BY id")).toEqual([[5], [6], [7]]);
      });

      it("defers foreign keys for the batch that asks for it, and no other", async () => {
        const outcomes = await Promise.allSettled([
          database.batch([
            sql("PRAGMA defer_foreign_keys=ON"),
            sql("INSERT INTO message VALUES ('m5', 5)"),
            sql("INSERT INTO room VALUES (5, 'parent', 1)"),
          ]),
          database.batch([
            sql("INSERT INTO message VALUES ('m6', 6)"),
            sql("INSERT INTO room VALUES (6, 'too late', 1)"),
          ]),
        ]);
        expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected"]);
        expect(await rows("SELECT id FROM message ORDER BY id")).toEqual([["m1"], ["m5"]]);
      });
    });

    describe("rowsWritten", () => {
      beforeEach(() =>
        database.migrate([
          sql("CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT) STRICT"),
          sql("CREATE TABLE child (parent_id INTEGER REFERENCES parent ON DELETE CASCADE) STRICT"),
          sql("CREATE TABLE log (line TEXT) STRICT"),
          sql("CREATE TRIGGER child_log AFTER INSERT ON child BEGIN INSERT INTO log VALUES ('added'); END"),
        ]),
      );

      const written = async (...statements: Statement[]) =>
        (await database.batch(statements)).map((result) => result.rowsWritten);

      it("counts the rows of each statement, its triggers and its cascades", async () => {
        expect(
          await written(
            sql("INSERT INTO parent VALUES (1, 'a'), (2, 'b')"),
            sql("INSERT INTO child VALUES (1), (1), (2)"),
            sql("SELECT * FROM child"),
            sql("UPDATE parent SET name = 'c' RETURNING id"),
            sql("UPDATE parent SET name = 'd' WHERE id = 9"),
            sql("DELETE FROM parent WHERE id = 1"),
          ),
        ).toEqual([2, 6, 0, 2, 0, 3]);
      });

      it("does not count what a failed batch wrote and lost", async () => {
        const failing = [sql("INSERT INTO parent VALUES (1, 'a')"), sql("INSERT INTO parent VALUES (1, 'again')")];
        const [, after] = await Promise.allSettled([
          written(...failing),
          written(sql("INSERT INTO parent VALUES (2, 'b')")),
        ]);
        expect(after).toEqual({ status: "fulfilled", value: [1] });
      });
    });

    describe("EXPLAIN QUERY PLAN", () => {
      it("tells the way of a statement, reads nothing, and is in nobody's way", async () => {
        await database.migrate([
          sql("CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER) STRICT"),
          sql("CREATE INDEX by_b ON t (b)"),
        ]);
        const details = async (text: string, ...params: Statement["params"]) => {
          const explain = { sql: `EXPLAIN QUERY PLAN ${text}`, params };
          const [plan, found] = await database.query([explain, { sql: text, params }]);
          expect(found!.rows).toEqual([]);
          return plan!.rows.map((row) => row[3]);
        };
        const select = "SELECT a FROM t WHERE b > ?";
        expect(await details(select, 1n)).toEqual([expect.stringMatching(/^SEARCH t USING .*INDEX by_b \(b>\?\)$/)]);
        const [, { rowsWritten }] = (await database.batch([
          { sql: `EXPLAIN QUERY PLAN ${select}`, params: [1n] },
          sql("INSERT INTO t VALUES (1, 0)"),
        ])) as [Result, Result];
        expect(rowsWritten).toBe(1);
        await database.migrate([sql("DROP INDEX by_b"), sql("ALTER TABLE t ADD COLUMN c INTEGER")]);
        expect(await details(select, 1n)).toEqual([expect.stringMatching(/^SCAN t/)]);
      });
    });

    describe("migrate", () => {
      beforeEach(async () => {
        await database.migrate([
          sql("CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT) STRICT"),
          sql(
            "CREATE TABLE child (id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES parent ON DELETE CASCADE) STRICT",
          ),
        ]);
        await database.batch([
          sql("INSERT INTO parent VALUES (1, 'a'), (2, 'b')"),
          sql("INSERT INTO child VALUES (10, 1), (20, 2)"),
        ]);
      });

      const rebuild = (copy: string) => [
        sql("CREATE TABLE parent_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT"),
        sql(copy),
        sql("DROP TABLE parent"),
        sql("ALTER TABLE parent_new RENAME TO parent"),
      ];
      const keepsForeignKeys = () =>
        expect(run("INSERT INTO child VALUES (99, 99)")).rejects.toMatchObject({ kind: "foreign_key" });

      unless(foreignKeysOff)("keeps the children of a table that is rebuilt", async () => {
        await database.migrate(rebuild("INSERT INTO parent_new SELECT id, name FROM parent"));
        expect(await rows("SELECT id, parent_id FROM child ORDER BY id")).toEqual([
          [10, 1],
          [20, 2],
        ]);
        await keepsForeignKeys();
        await run("DELETE FROM parent WHERE id = 1");
        expect(await rows("SELECT id FROM child")).toEqual([[20]]);
      });

      unless(foreignKeysOff)("changes nothing when a foreign key would lead nowhere", async () => {
        const migration = database.migrate(rebuild("INSERT INTO parent_new SELECT id, name FROM parent WHERE id = 1"));
        await expect(migration).rejects.toBeInstanceOf(ConstraintError);
        await expect(migration).rejects.toMatchObject({
          kind: "foreign_key",
          message: expect.stringMatching(/child.*parent/),
        });
        expect(await rows("SELECT id, name FROM parent ORDER BY id")).toEqual([
          [1, "a"],
          [2, "b"],
        ]);
        expect(await rows("SELECT id FROM child ORDER BY id")).toEqual([[10], [20]]);
        await keepsForeignKeys();
      });

      it("changes nothing when a statement fails", async () => {
        const migration = database.migrate([sql("DROP TABLE child"), sql("INSERT INTO parent VALUES (1, 'again')")]);
        await expect(migration).rejects.toMatchObject({ kind: "unique" });
        expect(await rows("SELECT id FROM child ORDER BY id")).toEqual([[10], [20]]);
        await keepsForeignKeys();
      });

      it("lets a statement that ran before see the columns that were added", async () => {
        const all = "SELECT * FROM parent WHERE id = 1";
        expect(await rows(all)).toEqual([[1, "a"]]);
        await database.migrate([sql("ALTER TABLE parent ADD COLUMN size INTEGER DEFAULT 7")]);
        expect(await rows(all)).toEqual([[1, "a", 7]]);
      });

      it("does not lift foreign keys for batches beside it", async () => {
        const outcomes = await Promise.allSettled([
          run("INSERT INTO child VALUES (30, 77)"),
          database.migrate([sql("ALTER TABLE parent ADD COLUMN size INTEGER")]),
          run("INSERT INTO child VALUES (40, 77)"),
          run("INSERT INTO child VALUES (50, 1)"),
        ]);
        expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled"]);
      });
    });
  });
}

function sql(text: string, ...params: SqlValue[]): Statement {
  return { sql: text, params };
}
