import { expect, it } from "vitest";
import { parseStrictJson } from "../../src/http/strict-json.js";
import { Random } from "./support/random.js";

/**
 * A body that is spelt as JSON.stringify spells it is judged by a shortcut, and one with a space in it is not: both verdicts are
 * one. `SEED=…` repeats a run, `INPUTS` prolongs it.
 */
const seed = Random.seedOfRun();
const inputs = Number(process.env.INPUTS ?? 3_000);

const keys = ["a", "b", "1", "__proto__", "toJSON", "", "é", "\\u0061", "\\ud800"];
const values = [
  "1",
  "-0",
  "1e400",
  "1e+21",
  "1e21",
  "9007199254740993",
  "12345678901234567000",
  "0.1",
  "true",
  "null",
  '"text"',
  '"\\u0000"',
  '"\\ud83d\\ude42"',
  '"\\udc00"',
  '"🙂, : \\""',
  "[1,2]",
  '{"c":1,"c":2}',
  "{}",
];

it("says of a body what it says of the same with a space in it", () => {
  const random = new Random(seed);
  let accepted = 0;
  for (let i = 0; i < inputs; i++) {
    const members = random.times(random.int(0, 4), () => `"${random.pick(keys)}":${random.pick(values)}`);
    const text = `{${members.join(",")}}`;
    const plain = parseStrictJson(text);
    expect(parseStrictJson(`${text} `), text).toEqual(plain);
    if ("value" in plain) accepted++;
  }
  expect(accepted).toBeGreaterThan(inputs / 10);
  expect(accepted).toBeLessThan(inputs);
});
