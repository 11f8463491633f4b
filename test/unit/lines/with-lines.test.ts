import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { withLines } from "../../../src/project/lines/with-lines.js";

/** The line of `path`, in a text whose lines are numbered from 1. */
function lineOf(file: string, text: string, path: string): number | undefined {
  return withLines([{ file, path, message: "" }], new Map([[file, text]]))[0]!.line;
}

const toml = `# [auth] port = 1
top = "a # b" # 2
[server]
  port = 8080
[auth.throttle]
window_secs = 1
[auth]
dev_secret = """
[cors]
port = 1 \\""" """""
cookie_mode = true
[rules.messages]
'read' = '''
update = "x"
''''
"create" = "a = \\"b\\" # c"
columns = { body = { read = "a", write = "}" }, title.read = "b" }
[ rules . "odd.name" ]
read = "public"
[cors]
allowed_origins = [ # [x]
  "a]",
  'b', ["c",
  1979-05-27 07:32:00],
]
allow_any_origin = false
[[mail]]
from = "a"
[[mail]]
from = "b"
[mail.below]
x = 1
`;

test.each([
  ["top", 2],
  ["server", 3],
  ["server.port", 4],
  ["auth.throttle.window_secs", 6],
  // The header of its own, rather than the [auth.throttle] before it.
  ["auth", 7],
  ["auth.dev_secret", 8],
  ["auth.cookie_mode", 11],
  ["rules", 12],
  ["rules.messages.read", 13],
  ["rules.messages.create", 16],
  ["rules.messages.columns.body.write", 17],
  ["rules.messages.columns.title.read", 17],
  ['rules."odd.name".read', 19],
  ["rules.odd.name.read", 12],
  ["cors.allowed_origins", 21],
  ["cors.allowed_origins.0", 22],
  ["cors.allowed_origins.1", 23],
  ["cors.allowed_origins.2.1", 24],
  ["cors.allow_any_origin", 26],
  ["mail", 27],
  ["mail.1.from", 30],
  // The longest part that is there.
  ["server.host", 3],
  ["auth.throttle.max_failures", 5],
  ["rules.messages.update", 12],
  ["rules.messages.columns.body.reed", 17],
  ["rulesx.messages", undefined],
  ["api.scan_limit", undefined],
  ["", undefined],
])("%s of a TOML text is in line %s", (path, line) => {
  expect(lineOf("svc.toml", toml, path)).toBe(line);
});

const yaml = `# notes:
$auth:
  redirect_urls:
    - a
    - >-
      notes:
      b
shared: &shared
  id: { type: text,
    unique: true }
notes:
  columns: *shared
tags: { columns: {
  label: { type: "x: y" } }, indexes: [
    { columns: [a, b] }] }
a:
  b: 1
a.b:
  c: 2
: d
0x10: e
`;

test.each([
  ["$auth", 2],
  ["$auth.redirect_urls.1", 5],
  ["shared.id.unique", 10],
  ["notes", 11],
  // An alias is what it stands for.
  ["notes.columns.id.type", 9],
  ["tags.columns.label.type", 14],
  ["tags.indexes.0.columns.1", 15],
  ["a.b", 17],
  ['"a.b"', 18],
  ['"a.b".c', 19],
  // A key that is not there is the name "", and another that is no text the name that it is written as in JSON.
  ['""', 20],
  ["16", 21],
  ["null", undefined],
  ["tags.columns.label.not_null", 14],
  ["notes.primary_key", 11],
  ["tables", undefined],
  ["", undefined],
])("%s of a YAML text is in line %s", (path, line) => {
  expect(lineOf("svc.schema.yaml", yaml, path)).toBe(line);
});

test("a key is what its quotes and escapes say, whatever else is written alike", () => {
  const text = ['"\\u0061.b" = 1', "'a'.b = 2", '"\\U0001F600" = 3', "'\"' = 4", '"" = 5'].join("\n");
  const paths = ['"a.b"', "a.b", "\u{1f600}", '"\\""', '""'];
  expect(paths.map((path) => lineOf("svc.toml", text, path))).toEqual([1, 2, 3, 4, 5]);
  expect(lineOf("svc.toml", `\ufeff${text}`, '"a.b"')).toBe(1);
});

test("thousands of problems are placed in one reading of each file", () => {
  const count = 20_000;
  const numbers = Array.from({ length: count }, (_, index) => index);
  const config = ["[auth]", ...numbers.map((n) => `unknown_${n} = "${n}" # ${n}`)].join("\n");
  const schema = [
    "shared: &shared { id: { type: text } }",
    ...numbers.flatMap((n) => [`t${n}:`, n % 7 === 0 ? "  columns: *shared" : "  columns: { id: 1 }"]),
  ].join("\n");
  const problems = numbers.toReversed().flatMap((n) => [
    { file: "svc.toml", path: `auth.unknown_${n}`, message: "" },
    { file: "svc.schema.yaml", path: `t${n}.columns.id.type`, message: "" },
  ]);
  const texts = new Map([
    ["svc.toml", config],
    ["svc.schema.yaml", schema],
  ]);
  expect(withLines(problems, texts)).toEqual([
    ...numbers.map((n) => ({ file: "svc.toml", line: n + 2, path: `auth.unknown_${n}`, message: "" })),
    // Those of the alias are where it leads.
    ...numbers
      .map((n) => ({
        file: "svc.schema.yaml",
        line: n % 7 === 0 ? 1 : 2 * n + 3,
        path: `t${n}.columns.id.type`,
        message: "",
      }))
      .toReversed()
      .sort((a, b) => a.line - b.line),
  ]);
});

test("long texts take no stack", () => {
  const many = 2_000_000;
  const text = [
    "# c\n".repeat(many),
    `a = "${'\\\\\\"x'.repeat(many)}"`,
    `b = """${'\\"""x'.repeat(many)}""""`,
    `c = '${'"'.repeat(many)}'`,
    "d = 1",
  ].join("\n");
  expect(lineOf("svc.toml", text, "d")).toBe(many + 5);
});

test("every key of the example project is found where it is written", () => {
  const text = readFileSync("svc.toml", "utf8");
  const lines = text.split("\n");
  const rules = [...lines.entries()].flatMap(([index, line]) => {
    const [, table] = /^\[(rules\.\w+)\]$/.exec(line) ?? [];
    return table === undefined ? [] : [[`${table}.read`, index + 2] as const];
  });
  expect(rules).toHaveLength(4);
  expect(rules.map(([path]) => [path, lineOf("svc.toml", text, path)])).toEqual(rules);
});

test("problems are in the order of their file, and a line that is known stays", () => {
  const problems = [
    { file: "svc.toml", path: "auth", message: "2" },
    { file: "svc.schema.yaml", path: "notes", message: "3" },
    { file: "environment", path: "X", message: "4" },
    { file: "svc.toml", line: 4, path: "", message: "1" },
  ];
  const texts = new Map([
    ["svc.toml", toml],
    ["svc.schema.yaml", yaml],
  ]);
  expect(withLines(problems, texts)).toEqual([
    { file: "svc.toml", line: 4, path: "", message: "1" },
    { file: "svc.toml", line: 7, path: "auth", message: "2" },
    { file: "svc.schema.yaml", line: 11, path: "notes", message: "3" },
    { file: "environment", path: "X", message: "4" },
  ]);
});

test("a Worker carries what finds lines in a schema, which comes over HTTP, and nothing for svc.toml", () => {
  const reached = new Set<string>();
  const follow = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, target] of text.matchAll(/^(?:import|export)\b(?! type\b)[^;]*?from "(\.[^"]+)"/gm)) {
      const path = join(dirname(file), target!.replace(/\.js$/, ".ts"));
      if (sources.has(path)) follow(path);
    }
  };
  const sources = new Set(readdirSync("src", { recursive: true, encoding: "utf8" }).map((name) => join("src", name)));
  follow("src/worker/worker.ts");
  expect(reached).toContain("src/project/schema.ts");
  expect([...reached].filter((file) => file.includes("/lines/")).sort()).toEqual([
    "src/project/lines/located.ts",
    "src/project/lines/yaml-places.ts",
  ]);
});
