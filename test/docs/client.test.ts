import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { rowTypes } from "../../src/cli/row-types.js";
import { parseSchema } from "../../src/project/parse-schema.js";
import { blocksOf } from "./pages.js";

const page = "docs/guides/client.md";

/** What the examples and the table take as given. */
const given = `
declare const email: string, password: string, room_id: string, author_id: string, user_id: string, since: number;
declare function show(what: unknown): void;
declare function keep(what: unknown): void;
declare const current_password: string, token: string, id: string, redirectTo: string, url: string;
declare const provider: OAuthProvider, listener: (user: TokenUser | null) => void;
import type { OAuthProvider, TokenUser, User, UserSession, VerificationRequired } from "svc/client";
interface Operations {
  transfer: { params: { from: string; to: string; cents: number }; result: { id: string; cents: number } };
}
type Same<A, B> = [A, B] extends [B, A] ? true : false;
`;

/** The page's table of `client.auth`, as code that the compiler takes if the table is right and whole. */
function accounts(text: string): string {
  const rows = [...text.matchAll(/^\| `([\w.]+)(\(.*?\))` \| `(.*?)` \|/gm)];
  const types = rows.map(([, name, given, type], i) => {
    const call = `const call${i} = await client.auth.${name}${given};`;
    return `${call} true satisfies Same<typeof call${i}, ${type!.replaceAll("\\|", "|")}>;`;
  });
  const shown = ["oauth", ...rows.map(([, name]) => name!.replace("oauth.", ""))];
  const names = shown.map((name) => `"${name}"`).join(" | ");
  const all = "keyof typeof client.auth | keyof typeof client.auth.oauth";
  return [...types, `true satisfies Same<${names}, ${all}>;`].join("\n");
}

test("the compiler takes the examples and the table of docs/guides/client.md, with the tables of the example project", () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-client-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { schema } = parseSchema(readFileSync("svc.schema.yaml", "utf8"));
  writeFileSync(join(directory, "tables.ts"), rowTypes(schema!, new Map(), { integers: "number" }));
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  const examples = blocksOf(page).filter(({ language }) => language === "ts");
  const example = join(directory, "example.ts");
  writeFileSync(
    example,
    [...examples.map(({ text }) => text), given, accounts(readFileSync(page, "utf8"))]
      .join("\n")
      .replaceAll('"svc/client"', JSON.stringify(resolve("src/client/index.js"))),
  );
  const options = "--ignoreConfig --noEmit --strict --target es2024 --module nodenext".split(" ");
  const compiled = spawnSync("node_modules/.bin/tsc", [...options, example], { encoding: "utf8" });
  expect(compiled.stdout).toBe("");
});
