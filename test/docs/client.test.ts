import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { rowTypes } from "../../src/cli/row-types.js";
import { parseSchema } from "../../src/project/parse-schema.js";
import { blocksOf } from "./pages.js";

const clientPage = "client.md";

/** What the examples of a guide take as given. */
const given: Readonly<Record<string, string>> = {
  "browsers.md": "declare const email: string, password: string;",
  [clientPage]: `
declare const email: string, password: string, room_id: string, author_id: string, user_id: string, since: number;
declare const title: string, database: { messages: RxCollection<Tables["messages"]["row"]> };
declare const tasks: Table<Loose<{ id: number; title: string; version: number }>>;
declare function show(...what: unknown[]): void;
declare function keep(what: unknown): void;
declare const current_password: string, token: string, id: string, redirectTo: string, url: string;
declare const provider: OAuthProvider, listener: (user: TokenUser | null) => void;
import type { OAuthProvider, Table, TokenUser, User, UserSession, VerificationRequired } from "svc-client";
import type { RxCollection } from "rxdb";
interface Operations {
  transfer: { params: { from: string; to: string; cents: number }; result: { id: string; cents: number } };
}
type Loose<Row> = { row: Row; create: Partial<Row>; update: Partial<Row>; key: number };
type Same<A, B> = [A, B] extends [B, A] ? true : false;
`,
  "sign-in-providers.md": `
import type { Client } from "svc-client";
declare const client: Client<Record<never, never>>;
`,
};

/** The table of `client.auth`, as code that the compiler takes if the table is right and whole. */
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

test("the compiler takes the examples of the guides as TypeScript, and the table of accounts of docs/guides/client.md", () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-guides-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  const { schema } = parseSchema(readFileSync("svc.schema.yaml", "utf8"));
  write("tables.ts", rowTypes(schema!, new Map(), { integers: "number" }));
  write("package.json", '{"type":"module"}');
  symlinkSync(resolve("node_modules"), join(directory, "node_modules"));
  // The examples of functions.md are modules that import the packages: test/package/functions.test.ts compiles them.
  const guides = readdirSync("docs/guides").filter((name) => name !== "functions.md" && examplesOf(name).length > 0);
  expect(guides).toEqual(expect.arrayContaining(Object.keys(given)));
  for (const name of guides) {
    const table = name === clientPage ? accounts(readFileSync(`docs/guides/${name}`, "utf8")) : "";
    write(`${name}.ts`, [...examplesOf(name), given[name] ?? "", table, "export {};"].join("\n"));
  }
  const compilerOptions = {
    noEmit: true,
    strict: true,
    // Examples in JavaScript give their parameters no types.
    noImplicitAny: false,
    skipLibCheck: true,
    target: "es2024",
    module: "nodenext",
    types: ["node"],
    paths: {
      "svc-client": [resolve("src/client/index.ts")],
      "svc-client/*": [resolve("src/client/*.ts")],
    },
  };
  write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const { stdout } = spawnSync("node_modules/.bin/tsc", ["-p", directory], { encoding: "utf8" });
  expect(stdout).toBe("");
});

/** The examples of a guide in JavaScript and TypeScript, in the order of the page. */
function examplesOf(guide: string): string[] {
  return blocksOf(`docs/guides/${guide}`)
    .filter(({ language }) => language === "js" || language === "ts")
    .map(({ text }) => text);
}
