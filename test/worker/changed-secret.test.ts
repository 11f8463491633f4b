import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { expect, it, onTestFinished } from "vitest";
import { svc } from "../cli/svc.js";
import { thaw } from "../support/frozen.js";
import { bundled, workerModules } from "../support/workerd/modules.js";

const old = "the secret that is replaced, 32 bytes and more";
const young = "the secret that replaces it, 32 bytes and more";
const password = "correct horse battery staple";

/** The product's own Worker without `allow_insecure_dev_secret`, which the example's svc.toml has. */
function secureBundle(directory: string): string {
  const copy = join(directory, "bundle");
  cpSync(workerModules, copy, { recursive: true });
  const project = join(copy, "project.js");
  const parts = readFileSync(project, "utf8").split('"allow_insecure_dev_secret":true');
  expect(parts).toHaveLength(2);
  writeFileSync(project, parts.join('"allow_insecure_dev_secret":false'));
  return copy;
}

/** A bundle, on a D1 database that stays in the directory, with these variables. */
async function product(bundle: string, directory: string, variables: Readonly<Record<string, string>>) {
  const miniflare = new Miniflare({
    ...bundled(bundle, "index.js"),
    d1Databases: { DB: "00000000-0000-0000-0000-000000000000" },
    d1Persist: join(directory, "d1"),
    bindings: { SVC_GATEWAY_URL: "https://x.example", ...variables },
  });
  await miniflare.ready;
  onTestFinished(() => miniflare.dispose());
  const { origin } = await miniflare.unsafeGetDirectURL();
  const me = async (token: string) =>
    (await fetch(`${origin}/auth/me`, { headers: { Authorization: `Bearer ${token}` } })).status;
  const signIn = async () => {
    const response = await fetch(`${origin}/auth/login`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: "root@example.com", password }),
    });
    const { data } = (await response.json()) as { data: { access_token: string } };
    return data.access_token;
  };
  return { miniflare, me, signIn };
}

it("a Worker takes both secrets from its variables, and does not start where they are the same", async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-secret-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const bundle = secureBundle(directory);
  const start = (variables: Readonly<Record<string, string>>) => product(bundle, directory, variables);
  const before = await start({ SVC_JWT_SECRET: old });
  const options = ["--admin-email", "root@example.com", "--password-stdin", "--dir", "."];
  const { stdout } = svc(["worker", "bootstrap", ...options], `${password}\n`);
  const database = await before.miniflare.getD1Database("DB");
  await thaw(
    { batch: (statements) => database.batch(statements.map(({ sql }) => database.prepare(sql))) as never },
    stdout,
  );
  const token = await before.signIn();

  const same = await start({ SVC_JWT_SECRET: old, SVC_JWT_PREVIOUS_SECRET: old });
  expect(await same.me(token)).toBe(503);

  const during = await start({ SVC_JWT_SECRET: young, SVC_JWT_PREVIOUS_SECRET: old });
  expect(await during.me(token)).toBe(200);
  const newer = await during.signIn();

  const after = await start({ SVC_JWT_SECRET: young });
  expect([await after.me(newer), await after.me(token)]).toEqual([200, 401]);
});
