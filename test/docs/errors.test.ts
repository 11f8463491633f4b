import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { statuses } from "../../src/http/refusal.js";

test("the page of errors has the codes that there are, with their statuses", () => {
  const rows = readFileSync("docs/reference/errors.md", "utf8").matchAll(/^\| `(\w+)` \| (\d+) \|/gm);
  expect(Object.fromEntries([...rows].map(([, code, status]) => [code, Number(status)]))).toEqual(statuses);
});
