import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { apiKey, type SignedIn, serve, signUp, type TestServer } from "../../support/server.js";
import { ada, anotherSession, askedFor, confirm, home, plain, refreshed } from "./support.js";

interface Listed {
  readonly id: string;
  readonly current: boolean;
}

const day = 86_400_000;
const instant = (ms: number) => new Date(ms).toISOString();

async function sessionsOf(server: TestServer, { bearer }: SignedIn): Promise<readonly Listed[]> {
  return dataOf(await client(server, bearer).get("/auth/sessions"));
}

const end = (server: TestServer, { bearer }: SignedIn, id: string) =>
  client(server, bearer).delete(`/auth/sessions/${id}`);

describe("GET /auth/sessions", () => {
  it("lists one's own sessions, the one that was used last first, and nothing secret", async () => {
    const server = await serve(plain);
    const began = server.clock.now();
    const phone = await signUp(server, ada);
    server.clock.advance(1000);
    const laptop = await anotherSession(server, ada);
    await member(server, "stranger");
    server.clock.advance(1000);
    const { access_token } = dataOf<{ access_token: string }>(await refreshed(server, phone));
    const answer = await client(server, laptop.bearer).get("/auth/sessions");
    const session = {
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      kind: "tokens",
      created_at: instant(began),
      last_used_at: instant(began + 2000),
      expires_at: instant(began + 2000 + 30 * day),
      current: false,
    };
    const own = {
      ...session,
      created_at: instant(began + 1000),
      last_used_at: instant(began + 1000),
      expires_at: instant(began + 1000 + 30 * day),
      current: true,
    };
    expectAnswer(answer, 200, { data: [session, own] });
    const listed = dataOf<readonly Listed[]>(answer);
    const other = await sessionsOf(server, { ...phone, bearer: { Authorization: `Bearer ${access_token}` } });
    expect(other.map(({ id, current }) => [id, current])).toEqual([
      [listed[0]!.id, true],
      [listed[1]!.id, false],
    ]);
    const secrets = await rowsOf(server, "SELECT hash FROM _refresh_tokens UNION SELECT family FROM _sessions");
    for (const [secret] of secrets) expect(answer.text).not.toContain(secret);
  });

  it("leaves out what has ended, and says of a session when its maximum age ends it", async () => {
    const config = `[auth]
session_max_age_secs = 2592000
refresh_token_ttl_secs = 864000`;
    const server = await serve({ ...plain, config });
    const began = server.clock.now();
    const kept = await signUp(server, ada);
    const [first] = await sessionsOf(server, kept);
    const out = await anotherSession(server, ada);
    await client(server).post("/auth/logout", { refresh_token: out.refreshToken });
    await anotherSession(server, ada);
    expect(await sessionsOf(server, kept)).toHaveLength(2);
    let { refreshToken } = kept;
    const renew = async () => {
      const answer = await client(server).post("/auth/refresh", { refresh_token: refreshToken });
      const data = dataOf<{ access_token: string; refresh_token: string }>(answer);
      refreshToken = data.refresh_token;
      return { ...kept, bearer: { Authorization: `Bearer ${data.access_token}` } };
    };
    for (let days = 0; days < 3; days++) {
      server.clock.advance(9 * day);
      await renew();
    }
    // The third session has not been refreshed for longer than a refresh token lives.
    expect(await sessionsOf(server, await renew())).toEqual([
      {
        id: first!.id,
        kind: "tokens",
        created_at: instant(began),
        last_used_at: instant(began + 27 * day),
        expires_at: instant(began + 30 * day),
        current: true,
      },
    ]);
  });

  it("shows a session as long as its access token lasts, where that is longer than the refresh token", async () => {
    const server = await serve({ ...plain, config: "auth.refresh_token_ttl_secs = 60" });
    const user = await signUp(server, ada);
    server.clock.advance(61_000);
    expect(await sessionsOf(server, user)).toMatchObject([{ current: true }]);
  });

  it("is for users: 401 for nobody, 403 for a key; other methods are 405", async () => {
    const server = await serve(plain);
    expectRefusal(await client(server).get("/auth/sessions"), 401, "unauthorized");
    const key = client(server, await apiKey(server, "project:backend"));
    expectRefusal(await key.get("/auth/sessions"), 403, "forbidden");
    expectRefusal(await key.delete("/auth/sessions/x"), 403, "forbidden");
    expectRefusal(await client(server).delete("/auth/sessions/x"), 401, "unauthorized");
    const posted = await client(server).post("/auth/sessions", {});
    expectRefusal(posted, 405, "method_not_allowed");
    expect(posted.headers.get("Allow")).toBe("GET");
    const got = await client(server).get("/auth/sessions/x");
    expectRefusal(got, 405, "method_not_allowed");
    expect(got.headers.get("Allow")).toBe("DELETE");
  });
});

describe("DELETE /auth/sessions/{id}", () => {
  it("ends the session from the next request on, and no other", async () => {
    const server = await serve(plain);
    const phone = await signUp(server, ada);
    const [lost] = await sessionsOf(server, phone);
    const laptop = await anotherSession(server, ada);
    const ended = await end(server, laptop, lost!.id);
    expectAnswer(ended, 200, { data: { revoked: true } });
    expect(ended.headers.get("Set-Cookie")).toBeNull();
    expectRefusal(await client(server, phone.bearer).get("/auth/me"), 401, "unauthorized");
    expectRefusal(await refreshed(server, phone), 401, "invalid_refresh_token");
    expect(await sessionsOf(server, laptop)).toMatchObject([{ current: true }]);
    expectRefusal(await end(server, laptop, lost!.id), 404, "not_found");
  });

  it("ends the caller's own, too", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    const [own] = await sessionsOf(server, user);
    expectAnswer(await end(server, user, own!.id), 200, { data: { revoked: true } });
    expectRefusal(await end(server, user, own!.id), 401, "unauthorized");
  });

  it("of somebody else is 404, as one that there is not, and goes on", async () => {
    const server = await serve(plain);
    const user = await member(server, "ada");
    const admin = await member(server, "root", "admin");
    const stranger = await member(server, "stranger");
    const [theirs] = await sessionsOf(server, stranger);
    const refusals = [theirs!.id, "none", "x%00y", "%F0%9F%99%82", "x".repeat(5000), "' OR 1=1 --"].map(async (id) =>
      expectRefusal(await end(server, user, id), 404, "not_found"),
    );
    expect(new Set(await Promise.all(refusals)).size).toBe(1);
    expectRefusal(await end(server, admin, theirs!.id), 404, "not_found");
    expect(await sessionsOf(server, stranger)).toHaveLength(1);
  });

  it("takes a change of the address along that the session has asked for, and leaves those of others", async () => {
    const server = await serve(plain);
    const thief = await signUp(server, ada);
    const [stolen] = await sessionsOf(server, thief);
    const owner = await anotherSession(server, ada);
    const token = await askedFor(server, thief, "thief@example.org");
    const other = (await sessionsOf(server, owner)).find(({ id }) => id !== stolen!.id)!;
    const third = await anotherSession(server, ada);
    expect((await end(server, third, other.id)).status).toBe(200);
    expect(await rowsOf(server, "SELECT count(*) FROM _links")).toEqual([[1]]);
    expect((await end(server, third, stolen!.id)).status).toBe(200);
    expectRefusal(await confirm(server, token), 400, "invalid_token");
    const asked = await askedFor(server, third, home);
    expect((await confirm(server, asked)).status).toBe(200);
  });

  it("twenty times at once is one success", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    await anotherSession(server, ada);
    const other = (await sessionsOf(server, user)).find(({ current }) => !current)!;
    const answers = await Promise.all(Array.from({ length: 20 }, () => end(server, user, other.id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 404, "not_found");
  });

  it("changes nothing once the caller's own session has ended", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    const other = await anotherSession(server, ada);
    const [, id] = (await sessionsOf(server, user)).map((session) => session.id);
    // The server has seen the session alive, and is told by the database alone.
    await run(server, "UPDATE _sessions SET revoked_at = 1 WHERE id <> ?", id!);
    const answers = [await end(server, user, id!), await end(server, other, id!)];
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  });
});
