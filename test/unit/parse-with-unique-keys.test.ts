import { describe, expect, test, vi } from "vitest";
import { type Document, LineCounter, parseDocument } from "yaml";
import { parseWithUniqueKeys } from "../../src/project/parse-with-unique-keys.js";
import { Random } from "../property/support/random.js";
import { countingSteps } from "../support/steps.js";

const options = { intAsBigInt: true, prettyErrors: false, logLevel: "error" } as const;

/** The errors of a parsed document in their order, and its value. */
function seen(document: Document.Parsed) {
  const errors = document.errors.map(({ name, code, message, pos }) => ({ name, code, message, pos }));
  try {
    return { errors, value: document.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    return { errors, value: String(error) };
  }
}

function expectAsTheParserHasIt(text: string) {
  const ours = parseWithUniqueKeys(text, { ...options, lineCounter: new LineCounter() });
  const theirs = parseDocument(text, { ...options, lineCounter: new LineCounter(), uniqueKeys: true });
  expect(seen(ours), text).toEqual(seen(theirs));
  return ours.errors.filter(({ code }) => code === "DUPLICATE_KEY").length;
}

describe("keys that a map has twice are those that the parser finds", () => {
  test.each([
    ["nothing", "", 0],
    ["a key", "a: 1\na: 2\na: 3", 2],
    ["keys in other quotes", "a: 1\n'a': 2\n\"a\": 3", 2],
    ["a number and its text", "1: 1\n'1': 2\n1.0: 3\n0x1: 4", 1],
    ["zeros", "0.0: 1\n-0.0: 2\n0: 3", 1],
    ["not a number", ".nan: 1\n.nan: 2", 0],
    ["no key", ": 1\n~: 2\nnull: 3\n'': 4", 2],
    ["keys of the prototype", "__proto__: 1\nconstructor: 2\n__proto__: 3", 1],
    ["aliases", "&a a: 1\n*a : 2\n*a : 3", 0],
    ["collections", "[a]: 1\n[a]: 2\n? {a: 1, a: 2}\n: 3", 1],
    ["with an anchor and a tag", "a: 1\n&x a: 2\n!!str a: 3\n? a\n: 4", 3],
    ["maps in maps", "a: {a: 1, b: {a: 1, a: 2}}\nb: [{b: 1, b: 2}, b: 3, b: 4]\na: 1", 3],
    ["the first map's keys in a later one", "a: {b: 1}\nc: {b: 1}\nd: {b: 1, b: 2}", 1],
    ["merges", "b: &b {x: 1}\nc:\n  <<: *b\n  <<: *b\n  x: 2", 1],
    ["merges of YAML 1.1", "%YAML 1.1\n---\nb: &b {x: 1}\nc:\n  <<: *b\n  <<: *b\n  x: 2", 0],
    ["dates of YAML 1.1", "%YAML 1.1\n---\n2001-01-01: 1\n2001-01-01: 2", 0],
    ["sets", "!!set {a, b, a}", 1],
    ["ordered maps", "!!omap [a: 1, a: 2]", 0],
    ["a second document", "a: 1\na: 2\n---\na: 1\na: 2\na: 3", 1],
    ["with other mistakes", "a: 1\n a: {a: b: c, a: [}\na: 'x\na: 2", 1],
  ])("%s", (_, text, duplicates) => {
    expect(expectAsTheParserHasIt(text)).toBe(duplicates);
  });

  test("in generated documents", () => {
    const random = new Random(Random.seedOfRun());
    const found = Array.from({ length: 500 }, () => expectAsTheParserHasIt(documentOf(random)));
    expect(found.filter((duplicates) => duplicates > 0).length).toBeGreaterThan(100);
  });
});

const keys = "a a b c 'a' \"b\" 1 1.0 '1' ~ null .nan <<".split(" ");
const oddKeys = ["*x ", "&x a", "&x [a]", "!!str 1", "[a, b]", "{ a: 1, a: 2 }", "", "? a", "a a"];
/** Mistakes, each of which may stand anywhere. */
const mistakes = [" ", "\n", "\t", "{", "]", ":", "'", "- ", "? ", "a: ", "---\n", "...\n", "#"];

function documentOf(random: Random): string {
  let text = random.pick(["", "", "%YAML 1.1\n---\n"]) + blockOf(random, 0);
  for (let left = random.int(0, 3); left > 0; left--) {
    const at = random.int(0, text.length);
    text = text.slice(0, at) + random.pick(mistakes) + text.slice(at + random.int(0, 1));
  }
  return text;
}

function keyOf(random: Random): string {
  return random.int(0, 5) === 0 ? random.pick(oddKeys) : random.pick(keys);
}

function blockOf(random: Random, depth: number): string {
  const entries = Array.from({ length: random.int(1, 6) }, () => {
    const isNested = depth < 3 && random.int(0, 3) === 0;
    return `${"  ".repeat(depth)}${keyOf(random)}:${isNested ? `\n${blockOf(random, depth + 1)}` : ` ${flowOf(random, depth)}\n`}`;
  });
  return entries.join("");
}

function flowOf(random: Random, depth: number): string {
  const kind = depth > 3 ? 9 : random.int(0, 9);
  const items = () => Array.from({ length: random.int(0, 4) }, () => flowOf(random, depth + 1));
  if (kind === 0) return `[${items().join(", ")}]`;
  if (kind <= 2)
    return `{${items()
      .map((item) => `${keyOf(random)}: ${item}`)
      .join(", ")}}`;
  return random.pick(["1", "x", "*x", "&x y", "&x {a: 1}", "'x'", ""]);
}

test("a key that is there twice is found in four times as many steps among four times as many keys", async () => {
  vi.resetModules();
  await countingSteps(
    () => import("../../src/project/read-schema-yaml.js"),
    async ({ readSchemaYaml }, stepsOf) => {
      const found = async (count: number) => {
        const text = [...Array.from({ length: count }, (_, i) => `t${i}: 1`), "t0: 2"].join("\n");
        let read: unknown;
        const steps = await stepsOf(() => {
          read = readSchemaYaml(text);
        });
        const message = expect.stringContaining("must be unique");
        const problems = [expect.objectContaining({ line: count + 1, message })];
        expect(read).toEqual({ outcome: "invalid", problems });
        return steps;
      };
      const [some, many] = [await found(1_000), await found(4_000)];
      // Four times four, if they grew with the square.
      expect(many).toBeLessThan(5 * some);
    },
  );
});
