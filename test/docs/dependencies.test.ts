import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const [, atRunTime, forDevelopment] = readFileSync("docs/dependencies.md", "utf8").split(/^## .*$/m);
const manifest = JSON.parse(readFileSync("package.json", "utf8"));

test.each([
  ["dependencies", atRunTime],
  ["devDependencies", forDevelopment],
])("docs/dependencies.md names the %s, and no others", (kind, part) => {
  const rows = part!.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) => [...row.split(" | ")[0]!.matchAll(/`(.*?)`/g)].map(([, name]) => name));
  expect(named.sort()).toEqual(Object.keys(manifest[kind]).sort());
});
