import { expect, test } from "vitest";
import { lex } from "../../../src/rules/lex.js";

test("tokens know their line and column", () => {
  expect(lex("row.id\n  = 'a\nb' and").map(({ text, at }) => [text, at.line, at.column])).toEqual([
    ["row", 1, 1],
    [".", 1, 4],
    ["id", 1, 5],
    ["=", 2, 3],
    ["'a\nb'", 2, 5],
    ["and", 3, 4],
    ["", 3, 7],
  ]);
});

test("keywords are matched without regard to case, names are not", () => {
  expect(lex("and AND Row row").map((token) => (token.kind === "word" ? token.keyword : token.kind))).toEqual([
    "and",
    "and",
    null,
    null,
    "end",
  ]);
});

test.each([
  ["'it''s'", "it's"],
  ["''", ""],
  ["''''", "'"],
  ["'--\n\"'", '--\n"'],
  ["'🙂'", "🙂"],
  ["12", 12n],
  ["-12", -12n],
  ["007", 7n],
  ["9223372036854775807", 9223372036854775807n],
  ["-9223372036854775808", -9223372036854775808n],
  ["1.5", 1.5],
  ["-1.5", -1.5],
  ["2e3", 2000],
  ["2.0E-1", 0.2],
])("literal %s", (text, value) => {
  expect(lex(text)).toMatchObject([{ kind: "literal", value }, { kind: "end" }]);
});

test("every symbol", () => {
  const symbols = ["=", "!=", "<", "<=", ">", ">=", "(", ")", ",", "."];
  const tokens = lex(symbols.join(" ")).slice(0, -1);
  expect(tokens.map((token) => token.text)).toEqual(symbols);
  expect(tokens.every((token) => token.kind === "symbol")).toBe(true);
});

test.each([
  ["<>", "write != instead of <>"],
  ["==", "write = instead of =="],
  ["&&", "write and instead of &&"],
  ["||", "write or instead of ||"],
  ['"a"', "text is written in single quotes"],
  ["'a", "text without a closing quote: add ' where it ends"],
  ["'a''", "text without a closing quote: add ' where it ends"],
  ["'", "text without a closing quote: add ' where it ends"],
  ["'a\0'", "text with a NUL or a lone surrogate"],
  ["'\ud83d'", "text with a NUL or a lone surrogate"],
  ["12abc", "malformed number 12abc"],
  ["1.", "malformed number 1."],
  ["1.5.2", "malformed number 1.5.2"],
  ["1e", "malformed number 1e"],
  ["0x10", "malformed number 0x10"],
  ["1_000", "malformed number 1_000"],
  ["9223372036854775808", "an integer has at most 64 bits"],
  ["-9223372036854775809", "an integer has at most 64 bits"],
  ["1e999", "the number is too large for a real"],
  [";", 'unexpected character ";"'],
  ["!", 'unexpected character "!"'],
  ["-- a", 'unexpected character "-"'],
  ["_x", 'unexpected character "_"'],
  ["$users_x", 'unexpected character "$"'],
  ["\0", 'unexpected character "\\u0000"'],
  ["é", 'unexpected character "é"'],
  ["🙂", 'unexpected character "🙂"'],
  ["\u00a0", 'unexpected character "\u00a0"'],
])("refuses %j", (text, message) => {
  expect(lex(`a ${text} b`)).toMatchObject([{ text: "a" }, { kind: "problem", message, at: { line: 1, column: 3 } }]);
});
