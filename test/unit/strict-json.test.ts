import { describe, expect, it } from "vitest";
import { parseStrictJson, parseStrictJsonInTurns } from "../../src/http/strict-json.js";

/** How many turns of the event loop others have while the text is parsed, and what it is parsed to. */
async function turnsOf(text: string) {
  let turns = 0;
  let isParsing = true;
  const count = () => {
    turns++;
    if (isParsing) setImmediate(count);
  };
  setImmediate(count);
  const parsed = await parseStrictJsonInTurns(text);
  isParsing = false;
  return { turns, parsed };
}

describe("turns of the event loop", () => {
  it("end after some thousand values and keys", async () => {
    const numbers = Array.from({ length: 60_000 }, (_, i) => i);
    const { turns, parsed } = await turnsOf(JSON.stringify(numbers));
    expect(parsed).toEqual({ value: numbers });
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  it("end after a million characters, with few values too", async () => {
    const texts = Array.from({ length: 8 }, (_, i) => `${i}`.repeat(1_000_000));
    const { turns, parsed } = await turnsOf(JSON.stringify(texts));
    expect(parsed).toEqual({ value: texts });
    expect(turns).toBeGreaterThanOrEqual(7);
  });
});

describe("a string", () => {
  it.each([
    ["\u007f", "\u0080\u009f", "\ud7ff\ue000\uffff", "[\\]^ !"],
    ['\\"', '\\\\"', '"\\', "\\".repeat(9), '\\"'.repeat(9)],
    ["\u0001\b\t\n\u001f", "\u{1f600}", ""],
  ])("is what JSON.stringify wrote, in arrays and as keys: %j", (...strings) => {
    const value = [...strings, Object.fromEntries(strings.map((each) => [each, each]))];
    expect(parseStrictJson(JSON.stringify(value))).toEqual({ value });
  });

  it.each(['"\\"', '"\\\\\\"', '"a', '"\u0000"', '"\u001f"', '"\n"', '"\\x"', '"\\u12"', '"'])(
    "is refused: %j",
    (text) => {
      expect(parseStrictJson(`[${text}`)).toMatchObject({ message: "the body is not valid JSON" });
      expect(parseStrictJson(`{${text}:1}`)).toMatchObject({ message: "the body is not valid JSON" });
    },
  );
});
