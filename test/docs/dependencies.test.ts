import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const [, atRunTime, inPage, forDevelopment] = readFileSync("docs/dependencies.md", "utf8").split(/^## .*$/m);

test.each([
  ["package.json", "dependencies", atRunTime],
  ["src/console/package.json", "devDependencies", inPage],
  ["package.json", "devDependencies", forDevelopment],
])("docs/dependencies.md names the packages of %s: %s, and no others", (file, kind, part) => {
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  const rows = part!.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) => [...row.split(" | ")[0]!.matchAll(/`(.*?)`/g)].map(([, name]) => name));
  expect(named.sort()).toEqual(Object.keys(manifest[kind]).sort());
});

test("the client has no dependency but optional peers, in the versions that the tests use", () => {
  const client = JSON.parse(readFileSync("src/client/package.json", "utf8"));
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(client.dependencies).toBeUndefined();
  for (const [name, version] of Object.entries(client.peerDependencies)) {
    expect(client.peerDependenciesMeta[name], name).toEqual({ optional: true });
    expect(devDependencies[name], name).toBe(version);
  }
});
