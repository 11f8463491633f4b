import { describe, expect, it } from "vitest";
import { client } from "../../support/client.js";
import { apiKey, serve } from "../../support/server.js";

const schema = "notes: { columns: { id: { type: integer, primary_key: true } } }";
const rules = '[rules.notes]\nread = "public"';

it("no answer of any kind may be taken for another type than it says", async () => {
  const server = await serve({
    schema,
    config: `cors.allowed_origins = ["https://app.example.com"]\n${rules}`,
  });
  const key = await apiKey(server, "project:backend");
  const preflight = { Origin: "https://app.example.com", "Access-Control-Request-Method": "PATCH" };
  for (const [method, path, headers, status] of [
    ["GET", "/health", {}, 200],
    ["GET", "/api/notes", {}, 200],
    ["GET", "/api/notes/1", {}, 404],
    ["POST", "/api/notes", key, 415],
    ["PUT", "/api/notes", {}, 405],
    ["GET", "/nowhere", {}, 404],
    ["GET", "/metrics", key, 200],
    ["GET", "/openapi.json", key, 200],
    ["GET", "/auth/pages/verify-email?token=x", {}, 200],
    ["OPTIONS", "/api/notes", preflight, 204],
  ] as const) {
    const answer = await client(server, headers).send(method, path, {});
    expect([path, answer.status, answer.headers.get("X-Content-Type-Options")]).toEqual([path, status, "nosniff"]);
    expect(answer.headers.get("Vary"), path).toContain("Origin");
    const policy = answer.headers.get("Content-Security-Policy");
    expect(policy, path).toContain("default-src 'none'");
    expect(policy, path).toContain("frame-ancestors 'none'");
  }
});

describe("Strict-Transport-Security", () => {
  const strict = "max-age=31536000";
  const forwarded = (protocol: string) => ({ "X-Forwarded-Proto": protocol });

  it.each([
    ["over plain HTTP", "", {}, null],
    ["where a stranger says that it was HTTPS", "", forwarded("https"), null],
    ["where the canonical address is https", 'auth.public_base_url = "https://api.example.com"', {}, strict],
    ["where it is that of a machine's own", 'auth.public_base_url = "https://localhost:8787"', {}, null],
    [
      "where a trusted proxy says that it was HTTP all the same",
      'server.trust_proxy = true\nauth.public_base_url = "https://api.example.com"',
      forwarded("https, http"),
      null,
    ],
  ] as const)("%s", async (_, config, headers, expected) => {
    const server = await serve({ schema, config: `${config}\n${rules}` });
    for (const path of ["/api/notes", "/api/notes/1", "/nowhere", "/auth/me"]) {
      const answer = await client(server, headers).get(path);
      expect(answer.headers.get("Strict-Transport-Security"), path).toBe(expected);
    }
  });
});

describe("a page on the server's own host that came over plain HTTP", () => {
  const cookieMode = 'auth.cookie_mode = true\ncors.allowed_origins = ["https://app.example.com"]';
  const body = JSON.stringify({ email: "ada@example.com", password: "correct horse" });

  it.each([
    ["is foreign where the canonical origin is https", 'auth.public_base_url = "https://api.example.com"', 403],
    ["is its own where that came over plain HTTP too", "", 201],
  ] as const)("%s", async (_, config, status) => {
    const server = await serve({ schema, config: `${config}\n${cookieMode}` });
    const headers = { "Content-Type": "application/json", Origin: "http://127.0.0.1:8787" };
    const answer = await client(server).send("POST", "/auth/register", { headers, body });
    expect(answer.status).toBe(status);
    expect(answer.headers.getSetCookie()).toHaveLength(status === 403 ? 0 : 2);
    const form = await client(server).send("POST", "/auth/pages/verify-email", {
      headers: { ...headers, "Content-Type": "application/x-www-form-urlencoded" },
      body: "token=x",
    });
    expect(form.status).toBe(status === 403 ? 403 : 400);
  });
});
