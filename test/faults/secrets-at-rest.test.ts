import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { hashSecret } from "../../src/encoding/hash-secret.js";
import { type Answer, client, dataOf } from "../support/client.js";
import { countOf } from "../support/people.js";
import { apiKey, serve, signUpAdmin, type TestServer } from "../support/server.js";

const project = {
  schema: `
$auth: { email_verification: { required: true } }
notes:
  columns:
    id:   { type: integer, primary_key: true }
    body: { type: text, not_null: true }
`,
  config: 'rules.notes = { read = "authenticated", create = "authenticated" }',
};

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Every secret that a caller sent, was given or was mailed. */
class Secrets {
  readonly passwords = new Set<string>();
  readonly tokens = new Set<string>();

  /** A password, on its way to the server. */
  password(text: string): string {
    this.passwords.add(text);
    return text;
  }

  ofAnswer(answer: Answer): Tokens {
    const tokens = dataOf<Tokens>(answer);
    this.tokens.add(tokens.access_token).add(tokens.refresh_token);
    return tokens;
  }

  /** The token of the last mail to an address. */
  async ofMail(server: TestServer, address: string): Promise<string> {
    await server.settled();
    const mail = server.mail.messages.findLast(({ to }) => to === address);
    const token = /[?&]token=([\w-]{43})/.exec(mail?.text ?? "")?.[1];
    expect(token, `a link in a mail to ${address}`).toBeDefined();
    this.tokens.add(token!);
    return token!;
  }
}

/** How a secret might lie there: as it is, and as the usual encodings of it. */
function formsOfPassword(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  return [
    bytes,
    ...(["base64", "base64url", "hex"] as const).map((encoding) => Buffer.from(bytes.toString(encoding))),
    Buffer.from(text, "utf16le"),
  ];
}

/** As for a password; besides, its random part without what stands around it, and the bytes that this encodes. */
function formsOfToken(token: string): Buffer[] {
  const random = token.startsWith("svc_") ? token.replace(/^svc_[a-z]+_/, "") : token.split(".").at(-1)!;
  const bytes = Buffer.from(random, "base64url");
  expect(bytes.length).toBeGreaterThanOrEqual(32);
  const encoded = (["base64", "base64url", "hex"] as const).map((encoding) => bytes.toString(encoding));
  return [...formsOfPassword(token), ...formsOfPassword(random), bytes, ...encoded.map((text) => Buffer.from(text))];
}

it("no refresh token, access token, link token, API key or password lies in the database's files", async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "data.db");
  const server = await serve({ ...project, path });
  const secrets = new Secrets();
  const anonymous = client(server);
  const scans: Buffer[] = [];
  const scan = () => {
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) scans.push(readFileSync(file));
  };
  const refreshed = async (refresh_token: string) =>
    secrets.ofAnswer(await anonymous.post("/auth/refresh", { refresh_token }));

  // An administrator, keys, and a user that the administrator makes.
  const root = await signUpAdmin(server, "root@example.com");
  secrets.password("correct horse battery staple"); // which signUpAdmin sends
  secrets.tokens.add(root.accessToken).add(root.refreshToken);
  const rootClient = client(server, root.bearer);
  const made = dataOf<{ key: string }>(
    await rootClient.post("/admin/api/service-keys", { name: "ci", scopes: ["resource:notes:write"] }),
  );
  const backend = await apiKey(server, "project:backend");
  secrets.tokens.add(made.key).add(backend.Authorization.slice("Bearer ".length));
  const bob = { email: "bob@example.com", password: secrets.password("bob's own, made by an admin") };
  expect((await rootClient.post("/admin/api/users", bob)).status).toBe(201);
  secrets.ofAnswer(await anonymous.post("/auth/login", bob));

  // Registration with its mail, while the mailer is down and after; login, wrong login, refreshes and a replay.
  server.mail.failure = new Error("down");
  const ada = { email: "ada@example.com", password: secrets.password("ada registers with this") };
  expect((await anonymous.post("/auth/register", ada)).status).toBe(202);
  await server.settled();
  expect(await countOf(server, "_outbox")).toBe(1);
  scan();
  server.mail.failure = null;
  server.clock.advance(10_000);
  await server.upkeep.deliverMail();
  const first = secrets.ofAnswer(
    await anonymous.post("/auth/email-verification/confirm", {
      token: await secrets.ofMail(server, ada.email),
    }),
  );
  const wrong = { ...ada, password: secrets.password("a guess that is wrong") };
  expect((await anonymous.post("/auth/login", wrong)).status).toBe(401);
  secrets.ofAnswer(await anonymous.post("/auth/login", ada));
  const second = await refreshed(first.refresh_token);
  await refreshed(first.refresh_token);
  const third = await refreshed(second.refresh_token);
  const me = client(server, { Authorization: `Bearer ${third.access_token}` });
  expect((await me.post("/api/notes", { body: "a note of ada's" })).status).toBe(201);
  const keyed = client(server, { Authorization: `Bearer ${made.key}` });
  expect((await keyed.post("/api/notes", { body: "a note of the key's" })).status).toBe(201);
  scan();

  // A password change and a reset; an invitation; an import; a logout; a revoked key.
  const changed = secrets.password("ada changes it to this");
  const change = { current_password: ada.password, password: changed };
  expect((await me.post("/auth/password", change)).status).toBe(200);
  expect((await anonymous.post("/auth/password-reset/request", { email: ada.email })).status).toBe(202);
  const reset = {
    token: await secrets.ofMail(server, ada.email),
    password: secrets.password("and resets it to this"),
  };
  scan();
  expect((await anonymous.post("/auth/password-reset/confirm", reset)).status).toBe(200);
  const last = secrets.ofAnswer(await anonymous.post("/auth/login", { email: ada.email, password: reset.password }));
  const eve = "eve@example.com";
  const backendClient = client(server, backend);
  expect((await backendClient.post("/auth/users/invite", { email: eve, role: "user" })).status).toBe(201);
  secrets.ofAnswer(
    await anonymous.post("/auth/invitations/accept", {
      token: await secrets.ofMail(server, eve),
      password: secrets.password("eve accepts with this"),
    }),
  );
  const imported = secrets.password("carol brought this from elsewhere");
  const password_hash = await server.platform.passwordHasher.hash(imported);
  const users = [{ id: "carol", email: "carol@example.com", email_verified: true, password_hash }];
  expect((await backendClient.post("/auth/users/import", { users })).status).toBe(200);
  secrets.ofAnswer(await anonymous.post("/auth/login", { email: "carol@example.com", password: imported }));
  expect((await anonymous.post("/auth/logout", { refresh_token: last.refresh_token })).status).toBe(200);
  scan();
  server.clock.advance(3_600_000);
  await server.upkeep.purge();
  scan();

  const bytes = Buffer.concat(scans);
  // What must be there, or the scan looked in the wrong place.
  for (const kept of ["ada@example.com", "a note of ada's", password_hash, await hashSecret(third.refresh_token)])
    expect(bytes.includes(kept), kept).toBe(true);
  expect([secrets.passwords.size, secrets.tokens.size]).toEqual([8, 24]);
  for (const password of secrets.passwords)
    for (const form of formsOfPassword(password)) expect(bytes.includes(form), password).toBe(false);
  for (const token of secrets.tokens)
    for (const form of formsOfToken(token)) expect(bytes.includes(form), token).toBe(false);
  const log = server.log.lines.join("\n");
  for (const secret of [...secrets.passwords, ...secrets.tokens]) expect(log).not.toContain(secret);
});
