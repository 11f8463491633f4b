import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { describe, expect, test } from "vitest";

const root = "src";

const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(ts|tsx|js)$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name));

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

interface Import {
  readonly file: string;
  readonly target: string;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, "utf8");
  const found = text.matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)"|import\("([^"]+)"\)/gm);
  return [...found].map(([, statically, dynamically]) => {
    const target = (statically ?? dynamically)!;
    return {
      file: relative(root, file),
      target: target.startsWith(".") ? relative(root, normalize(join(dirname(file), target))) : target,
    };
  });
}

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
const folderOf = (path: string) => path.split("/")[0]!;

describe("who imports whom", () => {
  const local = files
    .flatMap(importsOf)
    .filter(({ target }) => !/^(node:|@|[a-z])/.test(target) || existsInSource(target));

  function existsInSource(target: string): boolean {
    const typed = [".ts", ".tsx"].map((ending) => target.replace(/\.js$/, ending));
    return [...typed, target].some((path) => files.includes(join(root, path)));
  }

  test("only as the table above says", () => {
    const offending = local
      .map(({ file, target }) => ({ file, target: target.replace(/\.js$/, ".ts") }))
      .filter(({ file }) => !compositionRoots.some((place) => file.startsWith(place)))
      .filter(({ file, target }) => {
        const allowed = [folderOf(file), ...(mayImport[folderOf(file)] ?? [])];
        return !allowed.some((folder) => isWithin(target, folder));
      });
    expect(offending).toEqual([]);
  });

  test("in no circle", () => {
    let imports = local.map(({ file, target }) => ({ file, target: target.replace(/\.js$/, ".ts") }));
    for (let before = Number.POSITIVE_INFINITY; imports.length < before; ) {
      before = imports.length;
      // Who imports nobody else, or is imported by nobody else, is in no circle.
      const importing = new Set(imports.map(({ file }) => file));
      const imported = new Set(imports.map(({ target }) => target));
      imports = imports.filter(({ file, target }) => importing.has(target) && imported.has(file));
    }
    expect(imports).toEqual([]);
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
    const folders = new Set(files.map((file) => folderOf(relative(root, file))));
    folders.delete("cli");
    expect([...folders].sort()).toEqual(Object.keys(mayImport).sort());
  });
});

describe("portable code", () => {
  const sources = files
    .filter((file) => portable.includes(folderOf(relative(root, file))))
    .map((file) => ({ file, text: withoutComments(readFileSync(file, "utf8")) }));

  test.each([
    ["the clock", /\bDate\.now\b|\bnew Date\(\)|\bperformance\./],
    ["chance", /\bMath\.random\b|\bgetRandomValues\b|\brandomUUID\b/],
    ["the network", /\bfetch\(/],
    ["the process", /\bprocess\./],
    ["Node", /from "node:/],
    ["timers", /\bsetTimeout\b|\bsetInterval\b/],
  ])("does not reach for %s by itself", (_, pattern) => {
    expect(sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file)).toEqual([]);
  });
});

test("one function opens databases in the event loop, so that it decides how many threads libsql has", () => {
  const opening = files.filter((file) => /\bnew Libsql\(/.test(withoutComments(readFileSync(file, "utf8"))));
  expect(opening.map((file) => relative(root, file)).filter((file) => file.endsWith(".ts"))).toEqual([
    "node/open-native.ts",
  ]);
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
    const writing = files
      .filter((file) => statement.test(withoutComments(readFileSync(file, "utf8"))))
      .map((file) => relative(root, file))
      .filter((file) => !homes.some((home) => file.startsWith(home)) && !fixed.includes(file));
    expect(writing).toEqual([]);
  });

  test("a name becomes SQL only as one that the schema or the database gave", () => {
    const makers = files
      .filter((file) => /\b(tableName|columnName)\(/.test(withoutComments(readFileSync(file, "utf8"))))
      .map((file) => relative(root, file))
      .filter((file) => !/^(project|rules|schema|sqlite)\//.test(file));
    expect(makers).toEqual([]);
    const unchecked = files
      .filter((file) => relative(root, file).startsWith("tables/"))
      .filter((file) => /\bas (TableName|ColumnName)\b/.test(readFileSync(file, "utf8")));
    expect(unchecked).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}
