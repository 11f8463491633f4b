import { describe, expect, it } from "vitest";
import { createServiceKey } from "../../../src/auth/accounts/administration.js";
import { isRefusal } from "../../../src/http/refusal.js";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const project = {
  schema: "notes: { columns: { id: { type: integer, primary_key: true } } }",
  config: 'usage.enabled = false\nrules.notes.read = "public"',
};

async function secretOf(server: TestServer, expiresAt: string | null = null): Promise<string> {
  const key = await createServiceKey(server.platform, {
    name: "k",
    scopes: ["project:backend"],
    expiresAt,
    createdBy: "cli",
  });
  if (isRefusal(key)) throw new Error(key.message);
  return key.secret;
}

const listed = { data: [], meta: { limit: 50, offset: 0, total: 0 } };

const ask = (server: TestServer, headers: Record<string, string>) => client(server, headers).get("/api/notes");

describe("a key is accepted", () => {
  it("as a bearer credential and as X-API-Key", async () => {
    const server = await serve(project);
    const secret = await secretOf(server);
    expect(secret).toMatch(/^svc_sk_[A-Za-z0-9_-]{43}$/);
    for (const headers of [
      { Authorization: `Bearer ${secret}` },
      { Authorization: `bearer ${secret}` },
      { "X-API-Key": secret },
    ])
      expectAnswer(await ask(server, headers), 200, listed);
  });

  it("until its last millisecond", async () => {
    const server = await serve(project);
    const expires = new Date(server.clock.now() + 1000).toISOString();
    const headers = { "X-API-Key": await secretOf(server, expires) };
    server.clock.advance(999);
    expectAnswer(await ask(server, headers), 200, listed);
    server.clock.advance(1);
    expectRefusal(await ask(server, headers), 401, "unauthorized");
  });
});

describe("a key that is malformed or unknown is 401, on public tables too", () => {
  it.each([
    ["of another's making", (_: string) => `svc_sk_${"A".repeat(43)}`],
    ["cut short", (secret: string) => secret.slice(0, -1)],
    ["lengthened", (secret: string) => `${secret}A`],
    ["in upper case", (secret: string) => secret.toUpperCase()],
    ["with another prefix", (secret: string) => secret.replace("svc_sk_", "svc_pk_")],
    ["without its prefix", (secret: string) => secret.slice("svc_sk_".length)],
    ["the prefix alone", (_: string) => "svc_sk_"],
    ["with padding", (secret: string) => `${secret}=`],
    [
      "with one letter changed",
      (secret: string) => `${secret.slice(0, 20)}${secret[20] === "A" ? "B" : "A"}${secret.slice(21)}`,
    ],
  ])("%s", async (_, change) => {
    const server = await serve(project);
    const secret = change(await secretOf(server));
    expectRefusal(await ask(server, { Authorization: `Bearer ${secret}` }), 401, "unauthorized");
    expectRefusal(await ask(server, { "X-API-Key": secret }), 401, "unauthorized");
  });

  it("under another scheme", async () => {
    const server = await serve(project);
    const secret = await secretOf(server);
    for (const Authorization of [
      secret,
      `Basic ${secret}`,
      `Basic ${btoa(`${secret}:`)}`,
      `Token ${secret}`,
      `Bearer ${secret}, ${secret}`,
    ])
      expectRefusal(await ask(server, { Authorization }), 401, "unauthorized");
  });

  it("a user's token is no X-API-Key, and a good key does not help beside a bad bearer", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const secret = await secretOf(server);
    expectRefusal(await ask(server, { "X-API-Key": ada.accessToken }), 401, "unauthorized");
    expectRefusal(await ask(server, { Authorization: "Bearer x", "X-API-Key": secret }), 401, "unauthorized");
  });

  it("the hash that is stored is no key", async () => {
    const server = await serve(project);
    await secretOf(server);
    const [[hash]] = (await rowsOf(server, "SELECT hash FROM _service_keys")) as [[string]];
    expectRefusal(await ask(server, { "X-API-Key": hash }), 401, "unauthorized");
    expectRefusal(await ask(server, { "X-API-Key": `svc_sk_${hash}` }), 401, "unauthorized");
  });
});

it("a revocation holds from the next request, and for that key alone", async () => {
  const server = await serve(project);
  const first = await apiKey(server, "resource:notes:read");
  const [[id]] = (await rowsOf(server, "SELECT id FROM _service_keys")) as [[string]];
  const second = await apiKey(server, "resource:notes:read");
  expectAnswer(await ask(server, first), 200, listed);
  await run(server, "UPDATE _service_keys SET revoked_at = ? WHERE id = ?", BigInt(server.clock.now()), id);
  expectRefusal(await ask(server, first), 401, "unauthorized");
  expectAnswer(await ask(server, second), 200, listed);
  server.clock.advance(-3_600_000);
  expectRefusal(await ask(server, first), 401, "unauthorized");
});

it("a change of scopes holds from the next request", async () => {
  const server = await serve(project);
  const key = await apiKey(server, "resource:notes:read");
  expectAnswer(await ask(server, key), 200, listed);
  await run(server, `UPDATE _service_keys SET scopes = '["resource:notes:write"]'`);
  expectRefusal(await ask(server, key), 403, "forbidden");
});

it("the database holds no usable key", async () => {
  const server = await serve(project);
  const secret = await secretOf(server);
  const dump = JSON.stringify(await rowsOf(server, "SELECT * FROM _service_keys"));
  expect(dump).not.toContain(secret);
  expect(dump).not.toContain(secret.slice("svc_sk_".length));
});
