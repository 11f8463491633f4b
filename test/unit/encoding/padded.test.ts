import { expect, it } from "vitest";
import { padded } from "../../../src/encoding/padded.js";

it("texts of similar lengths become texts of the same number of bytes", () => {
  const bytes = (text: string) => new TextEncoder().encode(padded(text)).length;
  expect([0, 1, 63, 64, 65, 128].map((length) => bytes("x".repeat(length)))).toEqual([0, 64, 64, 64, 128, 128]);
  expect(bytes("é".repeat(33))).toBe(128);
  expect(JSON.parse(padded('{"a":1}'))).toEqual({ a: 1 });
});
