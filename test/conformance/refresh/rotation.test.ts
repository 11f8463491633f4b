import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, member, rowsOf } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";
import { project, type Tokens } from "./support.js";

const refresh = (server: TestServer, refresh_token: string) => client(server).post("/auth/refresh", { refresh_token });
const rotated = async (server: TestServer, token: string) => dataOf<Tokens>(await refresh(server, token));
const isAlive = async (server: TestServer, accessToken: string) => {
  const { status } = await client(server, { Authorization: `Bearer ${accessToken}` }).get("/auth/me");
  expect([200, 401]).toContain(status);
  return status === 200;
};

async function expectDead(server: TestServer, token: string) {
  expectRefusal(await refresh(server, token), 401, "invalid_refresh_token");
}

describe("a refresh", () => {
  it("answers with the token response: a fresh access token and a successor", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const answer = await refresh(server, ada.refreshToken);
    expectAnswer(answer, 200, {
      data: {
        user: { id: "ada", email: "ada@example.com", role: "user" },
        access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        refresh_token: expect.stringMatching(/^svc_rt_[\w-]{43}$/),
        token_type: "Bearer",
        expires_in: 900,
      },
    });
    const tokens = dataOf<Tokens>(answer);
    expect(tokens.access_token).not.toBe(ada.accessToken);
    expect([await isAlive(server, ada.accessToken), await isAlive(server, tokens.access_token)]).toEqual([true, true]);
  });

  it("inside the grace window gives the byte-identical successor and a fresh access token each time", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const first = await rotated(server, ada.refreshToken);
    server.clock.advance(5000);
    const again = await rotated(server, ada.refreshToken);
    expect(again.refresh_token).toBe(first.refresh_token);
    expect(again.access_token).not.toBe(first.access_token);
    expect(await isAlive(server, again.access_token)).toBe(true);
    expect(await countOf(server, "_refresh_tokens")).toBe(2);
  });

  it("inside the window gives the successor even if that has been used since", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const first = await rotated(server, ada.refreshToken);
    const second = await rotated(server, first.refresh_token);
    server.clock.advance(9000);
    expect((await rotated(server, ada.refreshToken)).refresh_token).toBe(first.refresh_token);
    expect((await rotated(server, first.refresh_token)).refresh_token).toBe(second.refresh_token);
    expect(await countOf(server, "_refresh_tokens")).toBe(3);
  });

  it("the window starts at the first use and is never extended", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const { refresh_token } = await rotated(server, ada.refreshToken);
    for (let seconds = 2; seconds <= 10; seconds += 2) {
      server.clock.advance(2000);
      expect((await rotated(server, ada.refreshToken)).refresh_token).toBe(refresh_token);
    }
    server.clock.advance(1);
    await expectDead(server, ada.refreshToken);
  });

  it.each([0, 1, 60])("a window of %i seconds is as long as that", async (seconds) => {
    const config = `auth.refresh_token_rotation_grace_secs = ${seconds}`;
    const server = await serve({ ...project, config });
    const ada = await member(server, "ada");
    const { refresh_token } = await rotated(server, ada.refreshToken);
    server.clock.advance(seconds * 1000 + 1);
    await expectDead(server, ada.refreshToken);
    await expectDead(server, refresh_token);
  });

  it("without a window, a token works once", async () => {
    const config = "auth.refresh_token_rotation_grace_secs = 0";
    const server = await serve({ ...project, config });
    const [ada, bob] = [await member(server, "ada"), await member(server, "bob")];
    const { refresh_token } = await rotated(server, ada.refreshToken);
    await expectDead(server, ada.refreshToken);
    await expectDead(server, refresh_token);
    const bobs = await rotated(server, bob.refreshToken);
    const logout = await client(server).post("/auth/logout", { refresh_token: bob.refreshToken });
    expectRefusal(logout, 401, "invalid_refresh_token");
    await expectDead(server, bobs.refresh_token);
  });

  it("without a window, a token works once in parallel, too, and its session ends", async () => {
    const config = "auth.refresh_token_rotation_grace_secs = 0";
    const server = await serve({ ...project, config });
    const ada = await member(server, "ada");
    const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(server, ada.refreshToken)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
    const { refresh_token, access_token } = dataOf<Tokens>(answers.find(({ status }) => status === 200)!);
    expect(await isAlive(server, access_token)).toBe(false);
    await expectDead(server, refresh_token);
  });

  it("the successor lives as long as a new token, and not longer", async () => {
    const server = await serve({ ...project, config: "auth.refresh_token_ttl_secs = 100" });
    const ada = await member(server, "ada");
    const first = await rotated(server, ada.refreshToken);
    server.clock.advance(99_999);
    const second = await rotated(server, first.refresh_token);
    server.clock.advance(100_000);
    await expectDead(server, second.refresh_token);
  });
});

describe("a refresh that is overtaken by later requests", () => {
  it("is judged by its arrival: within the window it gets the successor", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const first = await rotated(server, ada.refreshToken);
    // Later requests come first: a refresh after the window, another one, and a purge.
    server.clock.advance(10_500);
    const second = await rotated(server, first.refresh_token);
    server.clock.advance(15_000);
    const third = await rotated(server, second.refresh_token);
    await server.upkeep.purge();
    server.clock.advance(-15_500);
    expect((await rotated(server, ada.refreshToken)).refresh_token).toBe(first.refresh_token);
    server.clock.advance(15_500);
    expect(await isAlive(server, third.access_token)).toBe(true);
    expect((await refresh(server, third.refresh_token)).status).toBe(200);
  });

  it("gets the successor although its own retry, which came first, began the window", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    server.clock.advance(15_000);
    const retried = await rotated(server, ada.refreshToken);
    server.clock.advance(-15_000);
    expect((await rotated(server, ada.refreshToken)).refresh_token).toBe(retried.refresh_token);
  });

  it("ends the session if it arrived after the window, however late it is judged", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const first = await rotated(server, ada.refreshToken);
    server.clock.advance(20_000);
    const second = await rotated(server, first.refresh_token);
    server.clock.advance(-9_999);
    await expectDead(server, ada.refreshToken);
    await expectDead(server, second.refresh_token);
  });
});

describe("a refresh token used again after its window", () => {
  it("is 401, and every descendant, refresh and access token alike, is dead while another session lives", async () => {
    const server = await serve(project);
    const [ada, bob] = [await member(server, "ada"), await member(server, "bob")];
    const adas = await rotated(server, ada.refreshToken);
    const later = await rotated(server, adas.refresh_token);
    const latest = await rotated(server, later.refresh_token);
    server.clock.advance(10_001);
    expect(await isAlive(server, latest.access_token)).toBe(true);
    await expectDead(server, ada.refreshToken);
    for (const token of [ada.refreshToken, adas.refresh_token, later.refresh_token, latest.refresh_token])
      await expectDead(server, token);
    for (const token of [ada.accessToken, adas.access_token, later.access_token, latest.access_token])
      expect(await isAlive(server, token)).toBe(false);
    expect(await isAlive(server, bob.accessToken)).toBe(true);
    expect((await refresh(server, bob.refreshToken)).status).toBe(200);
  });

  it("ends that session of the user alone, not their others", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    await server.database.batch([
      { sql: "INSERT INTO _sessions (id, user_id, created_at) VALUES ('other', 'ada', 0)", params: [] },
    ]);
    await rotated(server, ada.refreshToken);
    server.clock.advance(10_001);
    await expectDead(server, ada.refreshToken);
    expect(await rowsOf(server, "SELECT id FROM _sessions WHERE revoked_at IS NULL")).toEqual([["other"]]);
  });

  it("is found out also by a logout with it", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const { refresh_token, access_token } = await rotated(server, ada.refreshToken);
    server.clock.advance(10_001);
    const logout = await client(server).post("/auth/logout", { refresh_token: ada.refreshToken });
    expectRefusal(logout, 401, "invalid_refresh_token");
    await expectDead(server, refresh_token);
    expect(await isAlive(server, access_token)).toBe(false);
  });
});

describe("what is no refresh token", () => {
  it.each(["", "x", "svc_rt_", `svc_rt_${"A".repeat(43)}`, "null", " ", "x".repeat(10_000)])(
    "%j is 401",
    async (token) => {
      const server = await serve(project);
      const ada = await member(server, "ada");
      await expectDead(server, token);
      const logout = await client(server).post("/auth/logout", { refresh_token: token });
      expectRefusal(logout, 401, "invalid_refresh_token");
      await expectDead(server, `${ada.refreshToken} `);
      expect((await refresh(server, ada.refreshToken)).status).toBe(200);
    },
  );

  it.each([{}, { refresh_token: null }, { refresh_token: 1 }, { refresh_token: ["x"] }, { token: "x" }])(
    "the body %j is 400",
    async (body) => {
      const server = await serve(project);
      expectRefusal(await client(server).post("/auth/refresh", body), 400, "bad_request");
      expectRefusal(await client(server).post("/auth/logout", body), 400, "bad_request");
    },
  );

  it("one that has expired is 401, and so is one of a time before", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    server.clock.advance(2_592_000_000);
    await expectDead(server, ada.refreshToken);
  });
});
