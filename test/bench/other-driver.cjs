// Another driver in the guise of libsql, to run the tests and benchmarks on it: node:sqlite from Node 24 on, better-sqlite3
// before. It takes the place of the files of node_modules/libsql: docs/driver.md says how.

/** better-sqlite3 names SQLite's result codes. These are the ones that src/node/database/libsql-errors.ts tells apart. */
const codes = {
  SQLITE_BUSY: 5,
  SQLITE_LOCKED: 6,
  SQLITE_NOMEM: 7,
  SQLITE_READONLY: 8,
  SQLITE_IOERR: 10,
  SQLITE_CORRUPT: 11,
  SQLITE_FULL: 13,
  SQLITE_CANTOPEN: 14,
  SQLITE_PROTOCOL: 15,
  SQLITE_CONSTRAINT: 19,
  SQLITE_MISMATCH: 20,
  SQLITE_NOTADB: 26,
  SQLITE_CONSTRAINT_CHECK: 275,
  SQLITE_CONSTRAINT_FOREIGNKEY: 787,
  SQLITE_CONSTRAINT_NOTNULL: 1299,
  SQLITE_CONSTRAINT_PRIMARYKEY: 1555,
  SQLITE_CONSTRAINT_TRIGGER: 1811,
  SQLITE_CONSTRAINT_UNIQUE: 2067,
  SQLITE_CONSTRAINT_ROWID: 2579,
  SQLITE_CONSTRAINT_DATATYPE: 3091,
};

/** Its statements are handed out as they are, so nothing is added to a call. */
function betterSqlite3() {
  const Better = require("better-sqlite3");
  const { SqliteError } = Better;
  Object.defineProperty(SqliteError.prototype, "rawCode", {
    get() {
      return codes[this.code] ?? codes[/^SQLITE_[A-Z]+/.exec(this.code)[0]] ?? 1;
    },
  });
  return class Database extends Better {
    static SqliteError = SqliteError;
    constructor(path, { timeout = 0 } = {}) {
      // It knows no `file:` URLs; a test opens one.
      const [, file] = /^file:(.*)\?immutable=1$/.exec(path) ?? [];
      super(file ?? path, file === undefined ? { timeout } : { readonly: true });
      // Tests write to sqlite_master.
      this.unsafeMode(true);
    }
    /** Where a statement returns nothing, its `all` would throw. */
    prepare(sql) {
      const statement = super.prepare(sql);
      if (!statement.reader) statement.all = (...params) => statement.run(...params) && [];
      return statement;
    }
  };
}

function nodeSqlite() {
  const { DatabaseSync } = require("node:sqlite");
  class SqliteError extends Error {
    name = "SqliteError";
    constructor(message, code, rawCode) {
      super(message);
      this.code = code;
      this.rawCode = rawCode;
    }
  }
  const done = (act) => {
    try {
      return act();
    } catch (error) {
      const { message, code, errcode } = error;
      throw code === "ERR_SQLITE_ERROR" ? new SqliteError(message, code, errcode) : error;
    }
  };
  const values = (params) => (Array.isArray(params[0]) ? params[0] : params);
  class Statement {
    #native;
    #first = false;
    constructor(native) {
      this.#native = native;
    }
    get reader() {
      return this.columns().length > 0;
    }
    columns() {
      return this.#native.columns();
    }
    raw(on = true) {
      this.#native.setReturnArrays(on);
      return this;
    }
    pluck() {
      this.#first = true;
      return this.raw();
    }
    safeIntegers(on = true) {
      this.#native.setReadBigInts(on);
      return this;
    }
    all(...params) {
      const rows = done(() => this.#native.all(...values(params)));
      return this.#first ? rows.map(([value]) => value) : rows;
    }
    get(...params) {
      const row = done(() => this.#native.get(...values(params)));
      return this.#first ? row?.[0] : row;
    }
    run(...params) {
      return done(() => this.#native.run(...values(params)));
    }
    iterate(...params) {
      return done(() => this.#native.iterate(...values(params)));
    }
  }
  return class Database {
    static SqliteError = SqliteError;
    #native;
    constructor(path, { timeout = 0 } = {}) {
      // Not defensive, because tests write to sqlite_master.
      this.#native = done(() => new DatabaseSync(path, { timeout, defensive: false }));
    }
    get inTransaction() {
      return this.#native.isTransaction;
    }
    exec(sql) {
      done(() => this.#native.exec(sql));
    }
    prepare(sql) {
      return new Statement(done(() => this.#native.prepare(sql)));
    }
    pragma(source) {
      return this.prepare(`PRAGMA ${source}`).all();
    }
    close() {
      if (this.#native.isOpen) this.#native.close();
    }
  };
}

const Database = Number(process.versions.node.split(".")[0]) < 24 ? betterSqlite3() : nodeSqlite();

/** In the guise of `libsql/promise`. Neither driver has anything to interrupt a statement with. */
Database.Promised = class extends Database {
  async exec(sql) {
    Database.prototype.exec.call(this, sql);
  }
  async prepare(sql) {
    return super.prepare(sql);
  }
  interrupt() {}
};

module.exports = Database;
