import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { serveWithDouble } from "../../support/oauth/double-server.js";
import { exchange, newChallenge, signInWith } from "../../support/oauth/flow.js";
import { countOf, rowsOf, run } from "../../support/people.js";

describe("POST /auth/oauth/exchange", () => {
  it("gives a code's tokens once, of 20 at once", async () => {
    const { server } = await serveWithDouble();
    const outcome = await signInWith(server, "google");
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(server, outcome)));
    const given = answers.filter(({ status }) => status === 200);
    expect(given).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 400, "invalid_token");
    expect(await countOf(server, "_sessions")).toBe(1);
    expect(await countOf(server, "_refresh_tokens")).toBe(1);
    const { access_token, refresh_token } = dataOf<Record<string, string>>(given[0]!);
    const bearer = { Authorization: `Bearer ${access_token}` };
    expect((await client(server, bearer).get("/auth/me")).status).toBe(200);
    expect((await client(server).post("/auth/refresh", { refresh_token })).status).toBe(200);
  });

  it("takes a code for less than 60 seconds", async () => {
    const { server } = await serveWithDouble();
    const early = await signInWith(server, "google");
    server.clock.advance(59_999);
    expect((await exchange(server, early)).status).toBe(200);
    const late = await signInWith(server, "google");
    server.clock.advance(60_000);
    expectRefusal(await exchange(server, late), 400, "invalid_token");
    expect(await countOf(server, "_sessions")).toBe(1);
  });

  it.each([
    ["no verifier", undefined],
    ["an empty one", ""],
    ["a short one", "x".repeat(42)],
    ["one outside of the alphabet", "ä".repeat(43)],
    ["a number", 1],
  ])("refuses %s, which uses nothing up", async (_, code_verifier) => {
    const { server } = await serveWithDouble();
    const outcome = await signInWith(server, "google");
    const code = outcome.told.get("code");
    const answer = await client(server).post("/auth/oauth/exchange", { code, code_verifier });
    expectRefusal(answer, 400, "bad_request");
    expect(await countOf(server, "_sessions")).toBe(0);
    expect((await exchange(server, outcome)).status).toBe(200);
  });

  it("refuses another verifier, and the code is used up", async () => {
    const { server } = await serveWithDouble();
    const outcome = await signInWith(server, "google");
    const other = newChallenge();
    expectRefusal(await exchange(server, { ...outcome, ...other }), 400, "invalid_token");
    expectRefusal(await exchange(server, outcome), 400, "invalid_token");
    expect(await countOf(server, "_sessions")).toBe(0);
  });

  it("takes the challenge for no verifier", async () => {
    const { server } = await serveWithDouble();
    const outcome = await signInWith(server, "google");
    expectRefusal(await exchange(server, { ...outcome, verifier: outcome.challenge }), 400, "invalid_token");
  });

  it("takes no code of its own making, and nothing that the database holds", async () => {
    const { server } = await serveWithDouble();
    const outcome = await signInWith(server, "google");
    const [[hash]] = (await rowsOf(server, "SELECT hash FROM _oauth_codes")) as [[string]];
    for (const code of [hash, "A".repeat(43), ""])
      expectRefusal(
        await client(server).post("/auth/oauth/exchange", { code, code_verifier: outcome.verifier }),
        400,
        "invalid_token",
      );
    expect(JSON.stringify(await rowsOf(server, "SELECT * FROM _oauth_codes"))).not.toContain(outcome.told.get("code"));
  });

  it("opens nothing for a user who was disabled meanwhile, nor when they are enabled again", async () => {
    const { server } = await serveWithDouble();
    const outcome = await signInWith(server, "google");
    await run(server, "UPDATE _users SET disabled = 1");
    expectRefusal(await exchange(server, outcome), 400, "invalid_token");
    await run(server, "UPDATE _users SET disabled = 0");
    expectRefusal(await exchange(server, outcome), 400, "invalid_token");
  });

  it("uses a code up for good, also with the clock set back", async () => {
    const { server } = await serveWithDouble();
    const outcome = await signInWith(server, "google");
    expect((await exchange(server, outcome)).status).toBe(200);
    server.clock.advance(-3_600_000);
    expectRefusal(await exchange(server, outcome), 400, "invalid_token");
  });

  it("sets the session's cookies in cookie mode, for a page of an allowed origin alone", async () => {
    const origin = "https://app.example.com";
    const { server } = await serveWithDouble({
      config: `[auth]\ncookie_mode = true\n[cors]\nallowed_origins = ["${origin}"]`,
    });
    const outcome = await signInWith(server, "google");
    const body = { code: outcome.told.get("code"), code_verifier: outcome.verifier };
    const foreign = client(server, { Origin: "https://evil.example" });
    expectRefusal(await foreign.post("/auth/oauth/exchange", body), 403, "forbidden");
    const answer = await client(server, { Origin: origin }).post("/auth/oauth/exchange", body);
    const { access_token, refresh_token } = dataOf<Record<string, string>>(answer);
    expect(answer.headers.getSetCookie()).toEqual([
      `svc_access=${access_token}; HttpOnly; SameSite=Lax; Path=/; Max-Age=900; Secure`,
      `svc_refresh=${refresh_token}; HttpOnly; SameSite=Lax; Path=/; Max-Age=2592000; Secure`,
    ]);
  });

  it("takes JSON alone, and POST alone", async () => {
    const { server } = await serveWithDouble();
    expectRefusal(await client(server).get("/auth/oauth/exchange"), 405, "method_not_allowed");
    const form = await client(server).send("POST", "/auth/oauth/exchange", {
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: "code=x",
    });
    expectRefusal(form, 415, "unsupported_media_type");
    expectAnswer(await client(server).get("/auth/oauth/providers"), 200, { data: expect.any(Array) });
  });
});
