import { describe, expect, it } from "vitest";
import { type Answer, client, expectRefusal, read } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { serveWithDouble } from "../../support/oauth/double-server.js";
import { atProvider, authorize, deliver, redirectTo, schema, sentBack } from "../../support/oauth/flow.js";
import { countOf } from "../../support/people.js";
import type { TestServer } from "../../support/server.js";

async function expectNoSignIn(server: TestServer, answer: Answer): Promise<void> {
  expectRefusal(answer, 400, "bad_request");
  expect(answer.headers.get("Location")).toBeNull();
  for (const table of ["_users", "_identities", "_oauth_codes", "_sessions"])
    expect(await countOf(server, table)).toBe(0);
}

describe("the state of a callback", () => {
  it.each([
    ["missing", (parameters: URLSearchParams) => parameters.delete("state")],
    ["empty", (parameters: URLSearchParams) => parameters.set("state", "")],
    ["made up", (parameters: URLSearchParams) => parameters.set("state", "A".repeat(43))],
    ["given twice", (parameters: URLSearchParams) => parameters.append("state", parameters.get("state")!)],
  ])("%s: 400 and nothing else", async (_, change) => {
    const { provider, server } = await serveWithDouble();
    const back = await atProvider(await authorize(server, "google"));
    change(back.parameters);
    await expectNoSignIn(server, await deliver(server, back));
    expect(provider.tokenRequests).toEqual([]);
  });

  it("expired after ten minutes: 400", async () => {
    const { server } = await serveWithDouble();
    const back = await atProvider(await authorize(server, "google"));
    server.clock.advance(600_000);
    await expectNoSignIn(server, await deliver(server, back));
  });

  it("of another provider: 400, and still good for its own", async () => {
    const { server } = await serveWithDouble();
    const back = await atProvider(await authorize(server, "google"));
    await expectNoSignIn(server, await deliver(server, { ...back, provider: "github" }));
    expect(sentBack(await deliver(server, back)).has("code")).toBe(true);
  });

  it("replayed: 400, also with the clock set back", async () => {
    const { server } = await serveWithDouble();
    const back = await atProvider(await authorize(server, "google"));
    expect((await deliver(server, back)).status).toBe(303);
    expectRefusal(await deliver(server, back), 400, "bad_request");
    server.clock.advance(-3_600_000);
    expectRefusal(await deliver(server, back), 400, "bad_request");
    expect(await countOf(server, "_oauth_codes")).toBe(1);
  });

  it("delivered 20 times at once: good for one", async () => {
    const { provider, server } = await serveWithDouble();
    const back = await atProvider(await authorize(server, "google"));
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(server, back)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(19).fill(400)].sort());
    expect(provider.tokenRequests).toHaveLength(1);
  });

  it("with a redirect URL that the project has given up meanwhile: 400", async () => {
    const { server } = await serveWithDouble();
    const back = await atProvider(await authorize(server, "google"));
    const text = schema().replace(redirectTo, `${redirectTo}/new`);
    await server.database.batch([
      {
        sql: "INSERT INTO _schema (version, hash, text, applied_at) VALUES (2, 'another', ?, 0)",
        params: [text],
      },
    ]);
    await expectNoSignIn(server, await deliver(server, back));
  });
});

describe("the method of a callback", () => {
  const form = { "Content-Type": "application/x-www-form-urlencoded" };

  it.each([
    ["POST", "google", "GET"],
    ["POST", "github", "GET"],
    ["HEAD", "google", "GET"],
    ["OPTIONS", "google", "GET"],
    ["PUT", "google", "GET"],
    ["GET", "apple", "POST"],
    ["HEAD", "apple", "POST"],
    ["OPTIONS", "apple", "POST"],
    ["DELETE", "apple", "POST"],
  ])("%s to %s: 405, and the state is not touched", async (method, provider, allowed) => {
    const { server } = await serveWithDouble();
    const back = await atProvider(await authorize(server, "google"));
    const path = `/auth/oauth/callback/${provider}?${back.parameters}`;
    const answer = await client(server).send(method, path, method === "POST" ? { headers: form, body: "" } : {});
    expect(answer.status).toBe(405);
    expect(answer.headers.get("Allow")).toBe(allowed);
    expect((await deliver(server, back)).status).toBe(303);
  });

  it("an unknown provider: 404 for any", async () => {
    const { server } = await serveWithDouble();
    for (const name of ["facebook", "Google", "__proto__", "constructor"])
      expectRefusal(await client(server).get(`/auth/oauth/callback/${name}?state=x`), 404, "not_found");
  });

  it("apple: a form and nothing else, of a sensible size", async () => {
    const { server } = await serveWithDouble();
    const post = (type: string, body: string) =>
      client(server).send("POST", "/auth/oauth/callback/apple", { headers: { "Content-Type": type }, body });
    expectRefusal(await post("application/json", '{"state":"x"}'), 415, "unsupported_media_type");
    expectRefusal(await post("text/plain", "state=x"), 415, "unsupported_media_type");
    expectRefusal(await post(form["Content-Type"], `state=${"x".repeat(70_000)}`), 413, "payload_too_large");
    expectRefusal(await post(form["Content-Type"], "state=x&state=y"), 400, "bad_request");
    expectRefusal(await post(form["Content-Type"], "state=%zz"), 400, "bad_request");
  });
});

describe("the way back", () => {
  it("is a 303 that nobody keeps and that names no referrer", async () => {
    const { server } = await serveWithDouble();
    const answer = await deliver(server, await atProvider(await authorize(server, "google")));
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toMatch(/^https:\/\/app\.example\.com\/auth\/callback\?code=[\w-]{43}$/);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    expect(answer.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(answer.headers.get("Set-Cookie")).toBeNull();
    expect(answer.text).toBe("");
  });

  it("leads to the configured address, whatever Host says", async () => {
    const { server } = await serveWithDouble();
    const response = await server.request("/auth/oauth/authorize", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Forwarded-Host": "evil.example" },
      body: JSON.stringify({
        provider: "google",
        redirect_to: redirectTo,
        code_challenge: "A".repeat(43),
        code_challenge_method: "S256",
      }),
    });
    expect((await read(response)).text).not.toContain("evil");
  });

  it.each([
    ["access_denied", "access_denied"],
    ["user_cancelled_authorize", "access_denied"],
    ["server_error", "provider_error"],
    ["<script>alert(1)</script>", "provider_error"],
  ])("tells of the provider's error %s as %s, in our words", async (error, told) => {
    const { provider, server } = await serveWithDouble();
    const back = await atProvider(await authorize(server, "google"));
    back.parameters.delete("code");
    back.parameters.set("error", error);
    back.parameters.set("error_description", "<b>theirs</b>");
    const parameters = sentBack(await deliver(server, back));
    expect(parameters.get("error")).toBe(told);
    expect(parameters.get("error_description")).not.toContain("theirs");
    expect([...parameters.keys()]).toEqual(["error", "error_description"]);
    expect(provider.tokenRequests).toEqual([]);
    expect(server.log.lines.join()).not.toMatch(/script|theirs/);
  });

  it("is 503 where the storage is away, and no one is half signed in", async () => {
    const board = switchboard();
    const { server } = await serveWithDouble({ wrap: board.wrap });
    const back = await atProvider(await authorize(server, "google"));
    board.failing = (statements) => statements.some(({ sql }) => sql.includes("_identities"));
    expectRefusal(await deliver(server, back), 503, "auth_unavailable");
    board.failing = null;
    expect(await countOf(server, "_users")).toBe(0);
    expect(await countOf(server, "_oauth_codes")).toBe(0);
  });
});
