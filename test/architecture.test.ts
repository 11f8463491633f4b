import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { circles } from "./house/circles.js";
import { folderCircles } from "./house/rooms.js";
import { readSources } from "./house/source.js";

const sources = readSources("src");

/** What a folder of src may import beside itself. docs/architecture.md shows the same table. */
const mayImport: Record<string, readonly string[]> = {
  client: [],
  console: ["client"],
  encoding: [],
  http: [],
  problems: [],
  sqlite: [],
  rules: ["problems", "sqlite/column-type.ts", "sqlite/names.ts"],
  project: ["encoding/base64.ts", "http/loopback.ts", "problems", "rules", "sqlite"],
  platform: ["encoding"],
  metering: ["encoding", "platform"],
  changes: ["platform", "sqlite"],
  schema: ["changes", "http", "platform", "problems", "project", "rules", "sqlite"],
  auth: [
    "changes/transactions.ts",
    "encoding",
    "http",
    "platform",
    "problems",
    "project",
    "rules/ast.ts",
    "sqlite/names.ts",
  ],
  tables: [
    "auth/callers.ts",
    "auth/principal.ts",
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
  ],
  sync: ["auth/principal.ts", "http", "platform", "project", "rules", "schema", "sqlite", "tables"],
  operations: [
    "auth/principal.ts",
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
    "auth/principal.ts",
    "encoding",
    "http",
    "platform",
    "project",
    "rules",
    "schema",
    "sqlite",
    "tables",
  ],
  explain: ["auth", "http", "metering", "platform", "problems", "project", "rules", "schema", "tables"],
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
  ],
  mail: ["auth", "encoding", "http", "platform", "project"],
  log: ["http", "metering/uuid.ts", "platform"],
  openapi: [
    "admin/authorize.ts",
    "auth/callers.ts",
    "auth/email.ts",
    "auth/passwords.ts",
    "http",
    "problems",
    "project",
    "rules",
    "schema",
    "sqlite",
  ],
  "app.ts": [
    "admin",
    "auth",
    "changes",
    "encoding",
    "http",
    "log",
    "mail",
    "metering",
    "openapi",
    "operations",
    "platform",
    "project",
    "schema",
    "sync",
    "tables",
    "writes",
  ],
  node: ["encoding", "http/refusal.ts", "log/message-line.ts", "platform"],
  remote: ["platform"],
  worker: ["encoding", "log/message-line.ts", "platform", "remote"],
};

/** The only places that put a runtime and the application together. */
const compositionRoots = [
  "worker/dev.ts",
  "worker/index.ts",
  "worker/libsql.ts",
  "worker/worker.ts",
  "worker/project.d.ts",
  "node/serve.ts",
  "node/project-directory.ts",
  "node/mail-transport.ts",
  "node/project-database.ts",
  "node/surroundings.ts",
  "cli/",
];

/** Folders whose code is the same on every runtime, and takes time, chance and limits as arguments. */
const portable = Object.keys(mayImport).filter(
  (folder) => !["client", "console", "node", "remote", "worker"].includes(folder),
);

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
const folderOf = (path: string) => path.split("/")[0]!;

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

  test("no files import each other in a circle", () => {
    expect(circles(new Map(sources.map(({ path, imports }) => [path, imports])))).toEqual([]);
  });

  test.fails("no rooms of a folder import each other in a circle", () => {
    expect(folderCircles(sources)).toEqual([]);
  });

  test("docs/architecture.md shows the table", () => {
    const section = readFileSync("docs/architecture.md", "utf8")
      .split("\n## Who may import whom\n")[1]!
      .split("\n## ")[0]!;
    const quoted = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    const rows = [...section.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)];
    const shown = rows.map(([, folder, imports]) => [folder, quoted(imports!)]);
    expect(Object.fromEntries(shown)).toEqual(mayImport);
  });

  test("every folder is in the table", () => {
    const folders = new Set(sources.map(({ path }) => folderOf(path)));
    folders.delete("cli");
    expect([...folders].sort()).toEqual(Object.keys(mayImport).sort());
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
  expect(opening.filter((path) => path.endsWith(".ts"))).toEqual(["node/open-native.ts"]);
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
    "node/libsql",
    "platform/abort.ts",
    "platform/foreign-key-check.ts",
    "remote/libsql.ts",
    "worker/d1.ts",
  ];
  /** The health check. */
  const fixed = ["app.ts"];

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
