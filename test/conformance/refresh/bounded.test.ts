import { describe, expect, it } from "vitest";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { serve, signUp, type TestServer } from "../../support/server.js";
import { project, refresh, type Tokens } from "./support.js";

/** All tokens of a session that is refreshed so many times, with a pause after each. */
async function chainOf(server: TestServer, first: string, refreshes: number, pauseMs: number) {
  const tokens: Tokens[] = [{ refresh_token: first, access_token: "" }];
  for (let i = 0; i < refreshes; i++) {
    tokens.push(dataOf<Tokens>(await refresh(server, tokens.at(-1)!.refresh_token)));
    server.clock.advance(pauseMs);
  }
  return tokens;
}

async function expectEnded(server: TestServer, latest: Tokens) {
  expectRefusal(await refresh(server, latest.refresh_token), 401, "invalid_refresh_token");
  const me = client(server, { Authorization: `Bearer ${latest.access_token}` });
  expectRefusal(await me.get("/auth/me"), 401, "unauthorized");
}

describe("the rows of a session", () => {
  it("are two tokens, where the window of each ends before the next refresh", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    await chainOf(server, ada.refreshToken, 30, 60_000);
    expect([await countOf(server, "_sessions"), await countOf(server, "_refresh_tokens")]).toEqual([1, 2]);
    await server.upkeep.purge();
    expect(await rowsOf(server, "SELECT used_at FROM _refresh_tokens")).toEqual([[null]]);
  });

  it("are 101 tokens at most, however fast it is refreshed", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const tokens = await chainOf(server, ada.refreshToken, 120, 1);
    expect(await countOf(server, "_refresh_tokens")).toBe(101);
    // The oldest that is kept, and the one before it.
    const [gone, kept, after] = tokens.slice(19, 22);
    expect(dataOf<Tokens>(await refresh(server, kept!.refresh_token)).refresh_token).toBe(after!.refresh_token);
    expectRefusal(await refresh(server, gone!.refresh_token), 401, "invalid_refresh_token");
    await expectEnded(server, tokens.at(-1)!);
  });

  it("fall to two again after a storm of refreshes", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const storm = await chainOf(server, ada.refreshToken, 10, 1);
    server.clock.advance(60_000);
    await chainOf(server, storm.at(-1)!.refresh_token, 10, 60_000);
    expect(await countOf(server, "_refresh_tokens")).toBe(2);
  });
});

describe("a used token that is not stored any more", () => {
  it.each([0, 1, 7, 29])("ends its session, the one of generation %i too", async (index) => {
    const server = await serve(project);
    const [ada, bob] = [await member(server, "ada"), await member(server, "bob")];
    const tokens = await chainOf(server, ada.refreshToken, 30, 60_000);
    await server.upkeep.purge();
    expectRefusal(await refresh(server, tokens[index]!.refresh_token), 401, "invalid_refresh_token");
    await expectEnded(server, tokens.at(-1)!);
    expect((await refresh(server, bob.refreshToken)).status).toBe(200);
  });

  it("is found out by a logout too", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const tokens = await chainOf(server, ada.refreshToken, 5, 60_000);
    await server.upkeep.purge();
    const logout = await client(server).post("/auth/logout", { refresh_token: ada.refreshToken });
    expectRefusal(logout, 401, "invalid_refresh_token");
    await expectEnded(server, tokens.at(-1)!);
  });

  it("does nothing to another session of the user", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const bob = await member(server, "bob");
    const tokens = await chainOf(server, ada.refreshToken, 3, 60_000);
    await server.database.batch([{ sql: "UPDATE _sessions SET user_id = 'ada'", params: [] }]);
    expectRefusal(await refresh(server, ada.refreshToken), 401, "invalid_refresh_token");
    await expectEnded(server, tokens.at(-1)!);
    expect((await refresh(server, bob.refreshToken)).status).toBe(200);
  });
});

describe("a user's thousand sessions", () => {
  const credentials = { email: "ada@example.com", password: "correct horse battery staple" };
  const thousand = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)";

  /** Ada's own session, and 999 that began later and were never used. */
  async function full() {
    const server = await serve(project);
    const { refreshToken } = await signUp(server, credentials.email);
    const [[user, now]] = (await rowsOf(server, "SELECT user_id, created_at FROM _sessions")) as [[string, number]];
    await run(
      server,
      `${thousand} INSERT INTO _sessions (id, user_id, created_at, latest_at)
      SELECT 'unused ' || i, ?, ? + i, ? + i FROM n WHERE i < 1000`,
      user,
      now,
      now,
    );
    const logIn = async () => {
      const { refresh_token } = dataOf<Tokens>(await client(server).post("/auth/login", credentials));
      return refresh_token;
    };
    return { server, refreshToken, user, logIn };
  }
  const isThere = async (server: TestServer, id: string) =>
    (await rowsOf(server, "SELECT 1 FROM _sessions WHERE id = ?", id)).length === 1;

  it("are all that there are: one more ends those that ended already, and then the one unused for longest", async () => {
    const { server, refreshToken, logIn } = await full();
    server.clock.advance(2_000);
    const { refresh_token } = dataOf<Tokens>(await refresh(server, refreshToken));
    await run(server, "UPDATE _sessions SET revoked_at = latest_at WHERE id = 'unused 500'");
    await logIn();
    expect([await isThere(server, "unused 500"), await isThere(server, "unused 1")]).toEqual([false, true]);
    await logIn();
    expect([await isThere(server, "unused 1"), await isThere(server, "unused 2")]).toEqual([false, true]);
    expect(await countOf(server, "_sessions")).toBe(1000);
    expect((await refresh(server, refresh_token)).status).toBe(200);
  });

  it("leave room for the new one, even if the clock was set back", async () => {
    const { server, logIn } = await full();
    server.clock.advance(-60_000);
    expect((await refresh(server, await logIn())).status).toBe(200);
  });

  it("may come from a thousand addresses, of which one more takes another's place", async () => {
    const { server, user, logIn } = await full();
    await run(
      server,
      `${thousand} INSERT INTO _known_addresses (user_id, address) SELECT ?, i FROM n WHERE i < 1001`,
      user,
    );
    await logIn();
    const known = await rowsOf(server, "SELECT length(address) > 4 FROM _known_addresses ORDER BY 1 DESC");
    expect([known.length, known[0]]).toEqual([1000, [1]]);
  });

  it("end with a changed password, and so do all known addresses but the one it was changed from", async () => {
    const { server, user, logIn } = await full();
    await logIn();
    const here = await rowsOf(server, "SELECT address FROM _known_addresses");
    await run(server, "INSERT INTO _known_addresses (user_id, address) VALUES (?, 'elsewhere')", user);
    const { access_token } = dataOf<Tokens>(await client(server).post("/auth/login", credentials));
    const signedIn = client(server, { Authorization: `Bearer ${access_token}` });
    const wrong = { current_password: "another horse", password: "a new horse battery" };
    expect((await signedIn.post("/auth/password", wrong)).status).toBe(403);
    expect(await countOf(server, "_known_addresses")).toBe(2);
    const right = { ...wrong, current_password: credentials.password };
    expect((await signedIn.post("/auth/password", right)).status).toBe(200);
    expect(await rowsOf(server, "SELECT address FROM _known_addresses")).toEqual(here);
  });
});

it("a malformed token that begins as a session's tokens do ends nothing", async () => {
  const server = await serve(project);
  const ada = await member(server, "ada");
  const { refreshToken } = ada;
  for (const token of [`${refreshToken}A`, refreshToken.slice(0, -1), `${refreshToken.slice(0, -1)}!`])
    expectRefusal(await refresh(server, token), 401, "invalid_refresh_token");
  expect((await refresh(server, refreshToken)).status).toBe(200);
});

it("every token of a session has its own secret, and a dump does not hold what they have in common", async () => {
  const server = await serve(project);
  const ada = await member(server, "ada");
  const tokens = await chainOf(server, ada.refreshToken, 3, 1);
  const texts = tokens.map(({ refresh_token }) => refresh_token);
  expect(new Set(texts.map((text) => text.slice(0, 28)))).toEqual(new Set([ada.refreshToken.slice(0, 28)]));
  expect(new Set(texts.map((text) => text.slice(28))).size).toBe(4);
  const rows = [
    ...(await rowsOf(server, "SELECT * FROM _sessions")),
    ...(await rowsOf(server, "SELECT * FROM _refresh_tokens")),
  ];
  expect(rows.flat().join("\n")).not.toContain(ada.refreshToken.slice(7, 28));
});
