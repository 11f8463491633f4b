import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { logMail } from "../../src/node/mail/log-mail.js";
import { createArgon2 } from "../../src/node/passwords/argon2.js";
import { deferTo, systemClock } from "../../src/node/system.js";
import { figure, median, timed } from "../support/figures.js";
import { member, run } from "../support/people.js";
import { post, serve, signUp } from "../support/server.js";

const tries = Number(process.env.TRIES ?? 200);

const schema = "notes: { columns: { id: { type: integer, primary_key: true } } }";
// Or all but the first few would be refused.
const config = "auth.throttle.enabled = false";

const password = "correct horse battery staple";
const kinds: readonly (readonly [string, { readonly email: string; readonly password: string }])[] = [
  ["unknown address", { email: "unknown@example.com", password }],
  ["wrong password", { email: "ada@example.com", password: "wrong horse battery staple" }],
  ["account without a password", { email: "social@example.com", password }],
  ["disabled account", { email: "off@example.com", password }],
];

test("a login that fails takes as long whatever was wrong", async () => {
  const server = await serve({ schema, config, passwordHasher: createArgon2() });
  await signUp(server, "ada@example.com");
  await signUp(server, "off@example.com");
  await run(server, "UPDATE _users SET disabled = 1 WHERE email_key = 'off@example.com'");
  await member(server, "social");
  await run(server, "UPDATE _users SET password_hash = NULL WHERE id = 'social'");

  const times = kinds.map((): number[] => []);
  const attempt = (kind: number) =>
    timed(async () => {
      const response = await post(server, "/auth/login", kinds[kind]![1]);
      expect(response.status).toBe(401);
      await response.text();
    });
  for (const kind of kinds.keys()) await attempt(kind);
  // In turns, beginning with another one each time, so that a noisy machine is noisy for all.
  for (let round = 0; round < tries; round++)
    for (const turn of kinds.keys()) {
      const kind = (round + turn) % kinds.length;
      times[kind]!.push(await attempt(kind));
    }

  const medians = times.map(median);
  for (const [kind, [name]] of kinds.entries())
    figure("enumeration", name, medians[kind]!, medians[kind]! / medians[0]!);
});

test("the write after a password reset's request takes as long whoever has the address", async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const server = await serve({
    schema,
    config: `auth.throttle.max_mails_per_address = 1000000\n[rules.notes]\ncreate = "authenticated"`,
    path: join(directory, "data.db"),
  });
  const { bearer } = await signUp(server, "writer@example.com");
  await signUp(server, "ada@example.com");
  // As a server does it, and not at once, as tests do.
  Object.assign(server.platform, {
    defer: deferTo(server.log, systemClock),
    mail: logMail({ directory: join(directory, "mail"), clock: systemClock, print: () => {} }),
  });
  const addresses = ["unknown@example.com", "ada@example.com"];
  const times = addresses.map((): number[] => []);
  const attempt = async (which: number) => {
    const asked = await post(server, "/auth/password-reset/request", { email: addresses[which] });
    expect(asked.status).toBe(202);
    const write = await timed(async () => {
      const written = await post(server, "/api/notes", {}, bearer);
      expect(written.status).toBe(201);
      await written.text();
    });
    times[which]!.push(write);
  };
  for (let round = 0; round < tries; round++)
    for (const turn of addresses.keys()) await attempt((round + turn) % addresses.length);

  const medians = times.map(median);
  for (const [which, name] of ["an unknown address", "a known address"].entries())
    figure("after a reset", name, medians[which]!, medians[which]! / medians[0]!);
});
