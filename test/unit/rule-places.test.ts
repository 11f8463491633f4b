import { expect, test } from "vitest";
import { parseConfig } from "../../src/project/parse-config.js";
import { placeInFile } from "../../src/project/place-in-file.js";

/** Every character of a text that svc.toml spells as itself, with the character at its place in the file. */
function compared(toml: string, path: string, text: string): readonly (readonly [string, string])[] {
  const { config, problems } = parseConfig(toml);
  expect(problems).toEqual([]);
  const runs = config!.places.get(path)!;
  const lines = toml.split("\n");
  return [...text].flatMap((character, offset) => {
    const { line, column } = placeInFile(runs, offset);
    const there = (lines[line - 1] ?? "")[column - 1] ?? "\n";
    return [[character, there] as const];
  });
}

test.each([
  ["a basic string", `[rules.posts]\nread = "row.owner_id = auth.id"\n`],
  ["a literal string", `[rules.posts]\n  read='row.owner_id = auth.id'  # who\n`],
  ["an inline table", `[rules]\nposts = { create = "deny", read = "row.owner_id = auth.id" }\n`],
  ["a dotted key", `rules.posts . read = "row.owner_id = auth.id"\n`],
  ["lines", `[rules.posts]\nread = """\nrow.owner_id = auth.id\n  or row.public\n"""\n`],
  ["lines that end as on Windows", `[rules.posts]\r\nread = """\r\nrow.owner_id\r\n  = auth.id"""\r\n`],
  ["literal lines", `[rules.posts]\nread = '''row.owner_id\n = auth.id'''\n`],
])("each character of a rule is found in %s", (_, toml) => {
  const { config } = parseConfig(toml);
  const text = config!.rules.get("posts")!.read!;
  const places = compared(toml, "rules.posts.read", text);
  expect(places.map(([, there]) => there).join("")).toBe(text);
});

test("what is escaped is one character of the text, and what follows it is found", () => {
  const toml = String.raw`[rules.posts]
read = "row.a = 'q\u0041\U0001F642\"' or row.b = auth.id"`;
  const text = parseConfig(toml).config!.rules.get("posts")!.read!;
  expect(text).toBe(`row.a = 'qA🙂"' or row.b = auth.id`);
  const runs = parseConfig(toml).config!.places.get("rules.posts.read")!;
  const last = placeInFile(runs, text.indexOf("row.b"));
  expect(toml.split("\n")[last.line - 1]!.slice(last.column - 1)).toBe(`row.b = auth.id"`);
});

test("a backslash at the end of a line takes the white space behind it", () => {
  const toml = `[rules.posts]\nread = """row.a = 1 \\\n\n   and row.b = 2"""\n`;
  const text = parseConfig(toml).config!.rules.get("posts")!.read!;
  expect(text).toBe("row.a = 1 and row.b = 2");
  const runs = parseConfig(toml).config!.places.get("rules.posts.read")!;
  expect(placeInFile(runs, text.indexOf("and"))).toEqual({ line: 4, column: 4 });
});

test("conditions and rules of columns have places, too", () => {
  const { config } = parseConfig(`[conditions]
"member(room)" = "exists(members m where m.room_id = room)"
[rules.posts.columns."score"]
write = "auth.role = 'admin'"`);
  expect([...config!.places]).toEqual([
    ["rules.posts.columns.score.write", [[0, 4, 10]]],
    ["conditions.member(room)", [[0, 2, 19]]],
  ]);
});
