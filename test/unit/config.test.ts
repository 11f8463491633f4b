import { expect, test } from "vitest";
import { parseConfig, remedies } from "../../src/project/parse-config.js";

// The remedies are found by smol-toml's own words: another version may have others.
test.each([
  ["invalid value", "a = yes"],
  ["illegal character in numeric literal", "a = 1x"],
  ["control characters are not allowed in strings", 'a = "b\n'],
  ["unfinished string", 'a = "b'],
  ["unrecognised escape sequence", 'a = "C:\\data"'],
  ["illegal character in key", "a b = 1"],
  ["unexpected end of key", "= 1"],
  ["incomplete key-value: cannot find end of key", "[auth"],
  ["expected comma or end of structure", "a = [1 2]"],
  ["unfinished array", "a = [1,"],
  ["unfinished table", "a = {b = 1,"],
  ["each key-value declaration must be followed by an end-of-line", 'a = "b" c'],
  ["trying to redefine an already defined table or value", "a = 1\na = 2"],
  ["trying to redefine an already defined value", "a = {b = 1, b = 2}"],
])("of %s it is said what to do", (words, text) => {
  tried.add(words);
  const [problem, ...others] = parseConfig(text).problems;
  expect(others).toEqual([]);
  expect(problem!.message.split("\n")[0]).toMatch(/^column \d+: /);
  expect(problem!.message.split("\n")[0]!.replace(/^column \d+: /, "")).toBe(words + remedies.get(words));
});

const tried = new Set<string>();

test("and no remedy is for words that are never said", () => {
  expect([...tried].sort()).toEqual([...remedies.keys()].sort());
});

test.each(["file:%", "file:%ff", "file:%00"])("a database's URL is decodable, which %s is not", (url) => {
  expect(parseConfig(`[database]\nurl = "${url}"`).problems).toEqual([
    {
      file: "svc.toml",
      path: "database.url",
      message: `what it has after % makes no path; a % is written %25, got "${url}"`,
    },
  ]);
});

test.each([
  ["file::memory:", "in memory"],
  ["file::memory:?cache=shared", "in memory"],
  ["file:%3amemory%3A", "in memory"],
  ["file:?mode=memory", "in memory"],
  ["file:data.db?cache=shared&mode=memory", "in memory"],
  ["file:data.db?vfs=memdb", "in memory"],
  ["file:data.db?mode=ro", "no parameters and no fragment"],
  ["file:/srv/data.db?immutable=1", "no parameters and no fragment"],
  ["file:data.db#1", "no parameters and no fragment"],
  ["file://localhost/srv/data.db", "no host"],
  ["file://data.db", "no host"],
  ["http://database.example.com", "loopback addresses alone"],
  ["http://10.0.0.5:8080", "loopback addresses alone"],
  ["http://127.0.0.1.example.com", "loopback addresses alone"],
  ["http://127.0.0.1@example.com", "loopback addresses alone"],
  ["http://:8080", "loopback addresses alone"],
])("of a URL of a form that is not carried out, %s, it is said so, once", (url, message) => {
  expect(parseConfig(`[database]\nurl = "${url}"`).problems).toEqual([
    { file: "svc.toml", path: "database.url", message: expect.stringContaining(message) },
  ]);
});

test.each([
  "file:data.db",
  "file:/srv/a b.db",
  "file:///srv/data.db",
  "file:what%3f%23.db",
  "file:mode=memory",
  "libsql://database.example.com",
  "https://database.example.com",
  "http://127.0.0.1:8080",
  "http://[::1]:8080",
  "http://localhost:8080",
])("%s names a database", (url) => {
  expect(parseConfig(`[database]\nurl = "${url}"`)).toMatchObject({
    problems: [],
    config: { database: { url } },
  });
});
