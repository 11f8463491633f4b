import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";

/** A member of an answer, by the file of src/wire that declares it, one that answers it and one of the console's screens. */
const members = [
  ["email_verified", "users", "admin/users", "users/user-state.tsx"],
  ["revoked_at", "keys", "admin/service-keys", "keys/keys.tsx"],
  ["created_at", "sessions", "admin/sessions", "users/user-drawer.tsx"],
  ["next_attempt_at", "mails", "admin/outbox", "mail/mail.tsx"],
  ["rows_read", "requests", "admin/requests", "requests/requests.tsx"],
  ["unknown_reads", "usage", "admin/usage", "usage/usage.tsx"],
  ["callback_url", "settings", "admin/settings", "settings/settings.tsx"],
  ["not_null", "schema-in-force", "admin/schema-in-force", "schema/table-shapes.tsx"],
  ["safe", "plan", "schema/plan/steps", "schema/plan-view.tsx"],
  ["reads_only", "named-operations", "admin/operations", "operations/operations.tsx"],
  ["not_judged", "explanation", "explain/answer", "why/explanation-view.tsx"],
].map(([member, wire, server, screen]) => ({
  member: member!,
  wire: `src/wire/${wire}.ts`,
  server: `src/${server}.ts`,
  screen: `src/console/screens/${screen}`,
}));

const root = mkdtempSync(join(tmpdir(), "svc-wire-"));
afterAll(() => rmSync(root, { recursive: true }));

test("renaming a member of an answer breaks the compilation of who answers it and of the console", async () => {
  for (const file of ["src", "package.json", "tsconfig.json"]) cpSync(file, join(root, file), { recursive: true });
  symlinkSync(resolve("node_modules"), join(root, "node_modules"));
  const ofWire = await errorsAfter(({ wire }) => wire);
  for (const { member, server, screen } of members) {
    expect(ofWire).toContainEqual(expect.stringMatching(`^${server}.*\\b${member}`));
    expect(ofWire).toContainEqual(expect.stringMatching(`^${screen}.*\\b${member}\\b`));
  }
  const ofServer = await errorsAfter(({ server }) => server);
  for (const { member, server } of members)
    expect(ofServer).toContainEqual(expect.stringMatching(`^${server}.*\\b${member}`));
});

/** Returns the lines that the compiler prints where each member has another name, in one file. */
async function errorsAfter(fileOf: (of: (typeof members)[number]) => string): Promise<readonly string[]> {
  for (const of of members) {
    const source = readFileSync(fileOf(of), "utf8");
    const name = new RegExp(`\\b${of.member}\\b(?=[:,?])`, "g");
    writeFileSync(join(root, fileOf(of)), source.replaceAll(name, `${of.member}Renamed`));
  }
  const files = members.flatMap(({ server, screen }) => [server, screen]);
  const compilerOptions = { types: ["node"] };
  const config = { extends: "./src/console/tsconfig.json", compilerOptions, include: [], files };
  writeFileSync(join(root, "config.json"), JSON.stringify(config));
  const compiler = spawn(resolve("node_modules/.bin/tsc"), ["-p", "config.json", "--pretty", "false"], {
    cwd: root,
  });
  const printed = await text(compiler.stdout);
  for (const of of members) cpSync(fileOf(of), join(root, fileOf(of)));
  return printed.split("\n");
}
