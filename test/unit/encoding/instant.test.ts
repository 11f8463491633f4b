import { expect, it } from "vitest";
import { parseInstant } from "../../../src/encoding/instant.js";

it.each([
  ["2024-02-29", Date.UTC(2024, 1, 29)],
  ["0001-01-01", -62_135_596_800_000],
  ["2024-02-29T23:59Z", Date.UTC(2024, 1, 29, 23, 59)],
  ["2024-02-29T23:59:58.9+02:30", Date.UTC(2024, 1, 29, 21, 29, 58, 900)],
  ["2024-12-31T23:59:59-14:00", Date.UTC(2025, 0, 1, 13, 59, 59)],
])("%s is an instant", (text, expected) => {
  expect(parseInstant(text)).toBe(expected);
});

it.each([
  "2024-02-30",
  "2023-02-29T00:00:00Z",
  "2024-04-31T12:00:00+02:00",
  "2024-13-01",
  "2024-00-10",
  "2024-01-00",
  "2024-01-01T25:00:00Z",
  "2024-01-01T00:60:00Z",
  "2024-01-01T00:00:00",
  "2024-1-1",
  "20240101",
  " 2024-01-01",
  "2024-01-01\n",
  "",
])("%j is none", (text) => {
  expect(parseInstant(text)).toBeNull();
});
