import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { circles } from "./house/circles.js";
import { folderCircles } from "./house/rooms.js";
import { readSources } from "./house/source.js";

const sources = readSources("src");

/** What a folder of src may import besides itself. docs/architecture.md shows the same table, with that of `rooms`. */
const mayImport: Record<string, readonly string[]> = {
  client: ["wire"],
  library: ["app.ts", "auth/callers/api-key.ts", "client", "http/refusal.ts"],
  packages: [],
  cases: [
    "auth/callers/principal.ts",
    "auth/email.ts",
    "auth/store/users.ts",
    "explain",
    "http",
    "log/failed-request.ts",
    "metering",
    "operations/routes.ts",
    "platform",
    "problems",
    "project",
    "rules",
    "schema",
    "tables",
  ],
  console: ["client", "wire"],
  encoding: [],
  wire: [],
  http: ["wire"],
  problems: [],
  sqlite: [],
  rules: ["problems", "sqlite/column-type.ts", "sqlite/names.ts"],
  project: ["encoding/base64.ts", "http/loopback.ts", "problems", "rules", "sqlite"],
  platform: ["encoding"],
  metering: ["encoding", "platform"],
  changes: ["platform", "sqlite"],
  schema: ["changes", "http", "platform", "problems", "project", "rules", "sqlite", "wire"],
  auth: [
    "changes/transactions.ts",
    "encoding",
    "http",
    "platform",
    "problems",
    "project",
    "rules/ast.ts",
    "sqlite/names.ts",
    "wire",
  ],
  tables: [
    "auth/callers/callers.ts",
    "auth/callers/principal.ts",
    "changes",
    "encoding",
    "http",
    "metering",
    "platform",
    "problems",
    "project",
    "rules",
    "schema",
    "sqlite",
    "wire",
  ],
  sync: [
    "auth/callers/principal.ts",
    "encoding/padded.ts",
    "http",
    "platform",
    "project",
    "rules",
    "schema",
    "sqlite",
    "tables",
  ],
  operations: [
    "auth/callers/principal.ts",
    "changes",
    "encoding",
    "http",
    "platform",
    "project",
    "rules",
    "schema",
    "sqlite",
    "tables",
  ],
  writes: [
    "auth/callers/principal.ts",
    "encoding",
    "http",
    "platform",
    "project",
    "rules",
    "schema",
    "sqlite",
    "tables",
  ],
  explain: ["auth", "http", "metering", "platform", "problems", "project", "rules", "schema", "tables", "wire"],
  admin: [
    "auth",
    "changes",
    "encoding",
    "explain",
    "http",
    "log/recent-requests.ts",
    "metering",
    "platform",
    "problems",
    "project",
    "rules",
    "schema",
    "sqlite",
    "tables",
    "wire",
  ],
  mail: ["auth", "encoding", "http", "platform", "project"],
  log: ["http", "metering/uuid.ts", "platform", "wire"],
  openapi: [
    "admin/console/endpoints.ts",
    "admin/endpoint.ts",
    "admin/endpoints.ts",
    "auth",
    "http",
    "problems",
    "project",
    "rules",
    "schema",
    "sqlite",
    "wire",
  ],
  assemble: [
    "admin/console/endpoints.ts",
    "admin/data-callers.ts",
    "admin/endpoints.ts",
    "admin/services.ts",
    "auth",
    "changes",
    "encoding",
    "http",
    "log",
    "mail",
    "metering",
    "openapi/data-paths.ts",
    "platform",
    "project",
    "schema",
    "sync",
    "tables",
    "writes",
  ],
  "app.ts": [
    "admin",
    "assemble",
    "auth",
    "http",
    "openapi",
    "operations",
    "platform",
    "schema",
    "sync",
    "tables",
    "writes",
  ],
  node: ["encoding", "http/byte-range.ts", "http/refusal.ts", "log/message-line.ts", "platform"],
  remote: ["platform"],
  worker: ["encoding", "log/message-line.ts", "platform", "remote"],
};

/**
 * What a folder below a top folder may import of its top folder, named from there. What it may import of other top
 * folders is what its top folder may.
 */
const rooms: Record<string, readonly string[]> = {
  "admin/console": [],
  "auth/accounts": ["callers", "email.ts", "passwords", "store"],
  "auth/callers": ["email.ts", "sessions", "store"],
  "auth/limits": ["store"],
  "auth/links": ["callers", "email.ts", "limits", "passwords", "sessions", "store"],
  "auth/oauth": ["email.ts", "store"],
  "auth/pages": ["links", "store"],
  "auth/passwords": ["body.ts", "callers", "email.ts", "limits", "sessions", "store"],
  "auth/routes": [
    "endpoint.ts",
    "fields.ts",
    "accounts",
    "auth-requests.ts",
    "body.ts",
    "callers",
    "context.ts",
    "email.ts",
    "limits",
    "links",
    "oauth",
    "pages",
    "passwords",
    "sessions",
    "store",
  ],
  "auth/sessions": ["body.ts", "store"],
  "auth/store": [],
  "client/live": ["error.ts", "indexed-db.ts", "session.ts", "surroundings.ts", "transport.ts"],
  "client/outbox": [
    "client.ts",
    "error.ts",
    "exclusive.ts",
    "indexed-db.ts",
    "live",
    "operations.ts",
    "surroundings.ts",
    "table-types.ts",
  ],
  "client/rxdb": ["client.ts", "error.ts", "live", "operations.ts"],
  "console/app": ["parts", "route.ts", "screens", "server", "texts.ts"],
  "console/callers": ["parts", "route.ts", "server", "texts.ts"],
  "console/editor": ["parts", "texts.ts"],
  "console/grid": ["parts", "route.ts", "server", "texts.ts"],
  "console/parts": ["server", "texts.ts"],
  "console/screens": ["callers", "editor", "grid", "parts", "route.ts", "server", "texts.ts"],
  "console/server": [],
  "packages/binary": ["installed-packages.ts"],
  "node/database": ["private-files.ts"],
  "node/journal": ["database", "private-files.ts"],
  "node/mail": ["private-files.ts"],
  "node/passwords": ["system.ts"],
  "node/plans": [],
  "node/server": [
    "built-directory.ts",
    "cipher.ts",
    "console-files.ts",
    "database",
    "journal",
    "passwords",
    "plans",
    "project-database.ts",
    "project-directory.ts",
    "provider-credentials.ts",
    "site-files.ts",
    "stderr-log.ts",
    "surroundings.ts",
    "system.ts",
  ],
  "project/lines": [],
  "schema/physical": [],
  "schema/plan": ["in-force.ts", "physical", "prove-operations.ts", "system"],
  "schema/pull": ["physical"],
  "schema/system": [],
  "tables/access": [],
  "tables/aggregate": ["access", "execution", "list", "plan", "request", "sql", "sql-text"],
  "tables/execution": ["plan", "sql-text"],
  "tables/history": ["access", "execution", "list", "plan", "request", "row", "sql", "sql-text"],
  "tables/list": ["access", "execution", "plan", "request", "sql", "sql-text"],
  "tables/plan": ["access", "request", "sql-text"],
  "tables/request": ["access"],
  "tables/routes": [
    "access",
    "aggregate",
    "execution",
    "history",
    "list",
    "plan",
    "request",
    "row",
    "sql",
    "sql-text",
    "together",
  ],
  "tables/row": ["access", "execution", "plan", "request", "sql", "sql-text"],
  "tables/sql": ["access", "plan", "request", "sql-text"],
  "tables/sql-text": [],
  "tables/together": ["access", "execution", "plan", "request", "row", "sql", "sql-text"],
  "worker/wasm": ["compute-hash.ts"],
};

/** The only places that put a runtime and the application together. */
const compositionRoots = [
  "worker/create-svc.ts",
  "worker/worker.ts",
  "node/server/",
  "node/project-directory.ts",
  "node/mail/mail-transport.ts",
  "node/plans/",
  "node/project-database.ts",
  "node/site-place.ts",
  "node/surroundings.ts",
  "cli/",
];

/** Folders whose code is the same on every runtime, and takes time, chance and limits as arguments. */
const portable = Object.keys(mayImport).filter(
  (folder) => !["client", "console", "node", "packages", "remote", "worker"].includes(folder),
);

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
const folderOf = (path: string) => path.split("/")[0]!;
/** The folder below a top folder that a file is in, such as `tables/list`; null for a file of the top folder itself. */
const roomOf = (path: string) => (path.split("/").length > 2 ? path.split("/").slice(0, 2).join("/") : null);

describe("who imports whom", () => {
  test("only as the table above says", () => {
    const offending = sources
      .filter(({ path }) => !compositionRoots.some((place) => path.startsWith(place)))
      .flatMap(({ path, imports }) => imports.map((target) => ({ path, target })))
      .filter(({ path, target }) => {
        const allowed = [folderOf(path), ...(mayImport[folderOf(path)] ?? [])];
        return !allowed.some((folder) => isWithin(target, folder));
      });
    expect(offending).toEqual([]);
  });

  test("within a folder, only as the table of its rooms says", () => {
    const offending = sources
      .filter(({ path }) => roomOf(path) !== null && folderOf(path) !== "cli")
      .flatMap(({ path, imports }) => imports.map((target) => ({ path, target })))
      .filter(({ path, target }) => {
        const room = roomOf(path)!;
        if (folderOf(target) !== folderOf(path) || isWithin(target, room)) return false;
        return !rooms[room]?.some((name) => isWithin(target, `${folderOf(path)}/${name}`));
      });
    expect(offending).toEqual([]);
  });

  test("no files import each other in a circle", () => {
    expect(circles(new Map(sources.map(({ path, imports }) => [path, imports])))).toEqual([]);
  });

  test("no rooms of a folder import each other in a circle", () => {
    expect(folderCircles(sources)).toEqual([]);
  });

  test("docs/architecture.md shows the table", () => {
    const section = readFileSync("docs/architecture.md", "utf8")
      .split("\n## Who may import whom\n")[1]!
      .split("\n## ")[0]!;
    const quoted = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    const rows = [...section.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)];
    const shown = rows.map(([, folder, imports]) => [folder, quoted(imports!)]);
    expect(Object.fromEntries(shown)).toEqual({ ...mayImport, ...rooms });
  });

  test("every folder is in the table", () => {
    const folders = new Set(sources.map(({ path }) => folderOf(path)));
    folders.delete("cli");
    expect([...folders].sort()).toEqual(Object.keys(mayImport).sort());
    const below = new Set(sources.map(({ path }) => roomOf(path)).filter((room) => room !== null));
    below.delete("cli/commands");
    expect([...below].sort()).toEqual(Object.keys(rooms).sort());
  });
});

describe("portable code", () => {
  const files = sources
    .filter(({ path }) => portable.includes(folderOf(path)))
    .map(({ path, text }) => ({ path, text: withoutComments(text) }));

  test.each([
    ["the clock", /\bDate\.now\b|\bnew Date\(\)|\bperformance\./],
    ["chance", /\bMath\.random\b|\bgetRandomValues\b|\brandomUUID\b/],
    ["the network", /\bfetch\(/],
    ["the process", /\bprocess\./],
    ["Node", /from "node:/],
    ["timers", /\bsetTimeout\b|\bsetInterval\b/],
  ])("does not reach for %s by itself", (_, pattern) => {
    expect(files.filter(({ text }) => pattern.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

test("one function opens databases in the event loop, so that it decides how many threads libsql has", () => {
  const opening = pathsOf((text) => /\bnew Libsql\(/.test(text));
  expect(opening.filter((path) => path.endsWith(".ts"))).toEqual(["node/database/open-native.ts"]);
});

describe("SQL", () => {
  /** Built for the owner's tables; built as DDL; fixed texts. */
  const homes = [
    "metering/store.ts",
    "writes/ledger.ts",
    "changes/",
    "tables/sql/",
    "project/fragment-problems.ts",
    "schema/",
    "sqlite/",
    "auth/store/",
    "node/database/libsql",
    "platform/abort.ts",
    "platform/foreign-key-check.ts",
    "remote/libsql.ts",
    "worker/d1.ts",
  ];
  /** The health check. */
  const fixed = ["admin/health.ts"];

  test("text is written in few places alone", () => {
    const statement =
      /["'`][^"'`\n]*\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|ALTER TABLE|DROP TABLE|PRAGMA)\s/;
    const writing = pathsOf((text) => statement.test(text)).filter(
      (path) => !homes.some((home) => path.startsWith(home)) && !fixed.includes(path),
    );
    expect(writing).toEqual([]);
  });

  test("a name becomes SQL only as one that the schema or the database gave", () => {
    const makers = pathsOf((text) => /\b(tableName|columnName)\(/.test(text)).filter(
      (path) => !/^(project|rules|schema|sqlite)\//.test(path),
    );
    expect(makers).toEqual([]);
    const unchecked = pathsOf((text) => /\bas (TableName|ColumnName)\b/.test(text));
    expect(unchecked.filter((path) => path.startsWith("tables/"))).toEqual([]);
  });
});

/** The files of src whose text without comments passes a test. */
function pathsOf(passes: (text: string) => boolean): string[] {
  return sources.filter(({ text }) => passes(withoutComments(text))).map(({ path }) => path);
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}
