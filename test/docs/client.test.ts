import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { rowTypes } from "../../src/cli/row-types.js";
import { parseSchema } from "../../src/project/parse-schema.js";
import { blocksOf } from "./pages.js";

/** What the example takes as given. */
const given = `
declare const email: string, password: string, room_id: string, author_id: string, user_id: string, since: number;
declare function show(what: unknown): void;
declare function keep(what: unknown): void;
`;

test("the compiler takes the example of docs/guides/client.md, with the tables of the example project", () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-client-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { schema } = parseSchema(readFileSync("svc.schema.yaml", "utf8"));
  writeFileSync(join(directory, "tables.ts"), rowTypes(schema!, new Map(), { integers: "number" }));
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  const { text } = blocksOf("docs/guides/client.md").find(({ language }) => language === "ts")!;
  const example = join(directory, "example.ts");
  writeFileSync(
    example,
    text.replace('"svc/client"', JSON.stringify(resolve("src/client/index.js"))) + given,
  );
  const options = "--ignoreConfig --noEmit --strict --target es2024 --module nodenext".split(" ");
  const compiled = spawnSync("node_modules/.bin/tsc", [...options, example], { encoding: "utf8" });
  expect(compiled.stdout).toBe("");
});
