import { describe, expect, it } from "vitest";
import { type Client, client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { serve, signUp, type TestServer } from "../../support/server.js";
import type { Tokens } from "./support.js";

const project = {
  schema: "notes: { columns: { id: { type: integer, primary_key: true } } }",
  config: 'usage.enabled = false\nrules.notes.read = "authenticated"',
};

const rotated = async (anonymous: Client, refresh_token: string) =>
  dataOf<Tokens>(await anonymous.post("/auth/refresh", { refresh_token }));

async function expectAllDead(server: TestServer, refreshTokens: readonly string[], accessTokens: readonly string[]) {
  for (const refresh_token of refreshTokens)
    expectRefusal(await client(server).post("/auth/refresh", { refresh_token }), 401, "invalid_refresh_token");
  for (const token of accessTokens) {
    const caller = client(server, { Authorization: `Bearer ${token}` });
    expectRefusal(await caller.get("/auth/me"), 401, "unauthorized");
    expectRefusal(await caller.get("/api/notes"), 401, "unauthorized");
  }
}

/** Every way to end a user's session, inside the grace window of its last refresh. */
const ends: readonly (readonly [string, (server: TestServer, tokens: Tokens) => Promise<unknown>])[] = [
  ["logout", (server, { refresh_token }) => client(server).post("/auth/logout", { refresh_token })],
  ["disablement", (server) => run(server, "UPDATE _users SET disabled = 1 WHERE id = 'ada'")],
  [
    "an administrative revocation",
    (server) => run(server, "UPDATE _sessions SET revoked_at = 1 WHERE user_id = 'ada'"),
  ],
  ["the user's deletion", (server) => run(server, "DELETE FROM _users WHERE id = 'ada'")],
];

describe.each(ends)("%s", (_, end) => {
  it("inside the grace window leaves nothing alive, from the next request on", async () => {
    const server = await serve(project);
    const anonymous = client(server);
    const [ada, bob] = [await member(server, "ada"), await member(server, "bob")];
    const first = await rotated(anonymous, ada.refreshToken);
    const replayed = await rotated(anonymous, ada.refreshToken);
    expect((await client(server, ada.bearer).get("/api/notes")).status).toBe(200);
    await end(server, first);
    await expectAllDead(
      server,
      [ada.refreshToken, first.refresh_token],
      [ada.accessToken, first.access_token, replayed.access_token],
    );
    expect((await client(server, bob.bearer).get("/auth/me")).status).toBe(200);
    expect((await anonymous.post("/auth/refresh", { refresh_token: bob.refreshToken })).status).toBe(200);
  });

  it("holds with the clock an hour back", async () => {
    const server = await serve(project);
    const anonymous = client(server);
    const ada = await member(server, "ada");
    server.clock.advance(7_200_000);
    const first = await rotated(anonymous, ada.refreshToken);
    await end(server, first);
    server.clock.advance(-3_600_000);
    await expectAllDead(server, [ada.refreshToken, first.refresh_token], [ada.accessToken, first.access_token]);
  });
});

describe("logout", () => {
  it("answers 200 once, and 401 with a token that is not live", async () => {
    const server = await serve(project);
    const anonymous = client(server);
    const ada = await member(server, "ada");
    const body = { refresh_token: ada.refreshToken };
    expectAnswer(await anonymous.post("/auth/logout", body), 200, { data: { revoked: true } });
    expectRefusal(await anonymous.post("/auth/logout", body), 401, "invalid_refresh_token");
    await expectAllDead(server, [ada.refreshToken], [ada.accessToken]);
  });

  it("with a token consumed within its window ends the session too", async () => {
    const server = await serve(project);
    const anonymous = client(server);
    const ada = await member(server, "ada");
    const first = await rotated(anonymous, ada.refreshToken);
    expect((await anonymous.post("/auth/logout", { refresh_token: ada.refreshToken })).status).toBe(200);
    await expectAllDead(server, [ada.refreshToken, first.refresh_token], [ada.accessToken, first.access_token]);
  });
});

describe("a password change", () => {
  const password = "correct horse battery staple";

  it("ends every session, this one included, and the old password with them", async () => {
    const server = await serve(project);
    const anonymous = client(server);
    const ada = await signUp(server, "ada@example.com");
    const first = await rotated(anonymous, ada.refreshToken);
    const credentials = { email: "ada@example.com", password };
    const other = dataOf<Tokens>(await anonymous.post("/auth/login", credentials));
    const me = client(server, ada.bearer);
    const body = { current_password: password, password: "another password" };
    expectAnswer(await me.post("/auth/password", body), 200, { data: { revoked_sessions: 2 } });
    await expectAllDead(
      server,
      [ada.refreshToken, first.refresh_token, other.refresh_token],
      [ada.accessToken, first.access_token, other.access_token],
    );
    expectRefusal(await anonymous.post("/auth/login", credentials), 401, "invalid_credentials");
    expect((await anonymous.post("/auth/login", { ...credentials, password: body.password })).status).toBe(200);
  });

  it("with a wrong current password or a weak new one is refused, and ends nothing", async () => {
    const server = await serve(project);
    const ada = await signUp(server, "ada@example.com");
    const me = client(server, ada.bearer);
    const wrong = { current_password: "wrong", password: "another password" };
    expectRefusal(await me.post("/auth/password", wrong), 403, "invalid_credentials");
    const weak = { current_password: password, password: "short" };
    expectRefusal(await me.post("/auth/password", weak), 400, "weak_password");
    expectRefusal(await client(server).post("/auth/password", wrong), 401, "unauthorized");
    expect((await me.get("/auth/me")).status).toBe(200);
  });
});

it("the clock an hour back: nothing consumed lives again, and the session goes on", async () => {
  const server = await serve(project);
  const anonymous = client(server);
  const ada = await member(server, "ada");
  server.clock.advance(7_200_000);
  const first = await rotated(anonymous, ada.refreshToken);
  server.clock.advance(-3_600_000);
  const again = await anonymous.post("/auth/refresh", { refresh_token: ada.refreshToken });
  expectRefusal(again, 401, "invalid_refresh_token");
  expect(await rowsOf(server, "SELECT count(*) FROM _refresh_tokens WHERE used_at IS NULL")).toEqual([[1]]);
  await rotated(anonymous, first.refresh_token);
});

it("the clock an hour back to just after a rotation: the window that had closed stays closed", async () => {
  const server = await serve(project);
  const anonymous = client(server);
  const ada = await member(server, "ada");
  const first = await rotated(anonymous, ada.refreshToken);
  server.clock.advance(3_600_000);
  const second = await rotated(anonymous, first.refresh_token);
  server.clock.advance(-3_600_000);
  const again = await anonymous.post("/auth/refresh", { refresh_token: ada.refreshToken });
  expectRefusal(again, 401, "invalid_refresh_token");
  const tokens = [ada.refreshToken, first.refresh_token, second.refresh_token];
  await expectAllDead(server, tokens, [first.access_token, second.access_token]);
});

it("the clock a few seconds back between a refresh and its retry costs nobody the session", async () => {
  const server = await serve(project);
  const anonymous = client(server);
  const ada = await member(server, "ada");
  const first = await rotated(anonymous, ada.refreshToken);
  server.clock.advance(-5_000);
  const retry = await rotated(anonymous, ada.refreshToken);
  expect(retry.refresh_token).toBe(first.refresh_token);
});

it("a user who is enabled again gets no session back that was revoked", async () => {
  const server = await serve(project);
  const ada = await member(server, "ada");
  await run(server, "UPDATE _users SET disabled = 1");
  await run(server, "UPDATE _sessions SET revoked_at = 1");
  await run(server, "UPDATE _users SET disabled = 0");
  await expectAllDead(server, [ada.refreshToken], [ada.accessToken]);
});
