import { describe, expect, it } from "vitest";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { countOf, member, rowsOf } from "../../support/people.js";
import { type SignedIn, serve, type TestServer } from "../../support/server.js";

const project = {
  schema: "notes: { columns: { id: { type: integer, primary_key: true } } }",
  config: 'usage.enabled = false\nrules.notes.read = "authenticated"',
};

// Over the socket every request costs a few times as much, and what is raced for is the same database.
const share = process.env.SVC_TARGET === "socket" ? 0.1 : 1;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

const refresh = (anonymous: Client, refresh_token: string) =>
  anonymous.post("/auth/refresh", { refresh_token });

describe("fifty refreshes of one token at once", () => {
  const rounds = 100 * share;

  it(`are fifty 200 with one successor, ${rounds} times`, async () => {
    const server = await serve(project);
    const anonymous = client(server);
    for (let round = 0; round < rounds; round++) {
      const user = await member(server, `user${round}`);
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => refresh(anonymous, user.refreshToken)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
      const given = answers.map((answer) => dataOf<Tokens>(answer));
      const successors = new Set(given.map(({ refresh_token }) => refresh_token));
      expect(successors.size).toBe(1);
      expect(new Set(given.map(({ access_token }) => access_token)).size).toBe(50);
      expect(await familyOf(server, user)).toEqual({ tokens: 2, unused: 1 });
      // The one that is left unused is the one that was given.
      expect((await refresh(anonymous, [...successors][0]!)).status).toBe(200);
      expect(await familyOf(server, user)).toEqual({ tokens: 3, unused: 1 });
    }
    expect(server.log.lines).toEqual([]);
  });
});

async function familyOf(server: TestServer, { id }: SignedIn) {
  const [[tokens, unused]] = (await rowsOf(
    server,
    `SELECT count(*), count(*) FILTER (WHERE t.used_at IS NULL)
    FROM _refresh_tokens t JOIN _sessions s ON s.id = t.session_id WHERE s.user_id = ?`,
    id,
  )) as [[number, number]];
  return { tokens, unused };
}

describe("a logout that races refreshes", () => {
  const rounds = 200 * share;

  it(`leaves nothing alive, ${rounds} times`, async () => {
    const server = await serve(project);
    const anonymous = client(server);
    const outcomes = new Set<number>();
    for (let round = 0; round < rounds; round++) {
      const user = await member(server, `user${round}`);
      // In turns: of a new token, and of one that is rotated already while its successor is refreshed.
      const before = round % 2 === 0 ? [] : [dataOf<Tokens>(await refresh(anonymous, user.refreshToken))];
      const latest = before[0]?.refresh_token ?? user.refreshToken;
      const refreshes = [latest, latest].map((token) => () => refresh(anonymous, token));
      const logout = () => anonymous.post("/auth/logout", { refresh_token: user.refreshToken });
      const place = (round >> 1) % 3;
      const answers = await Promise.all(refreshes.toSpliced(place, 0, logout).map((send) => send()));
      const [loggedOut] = answers.splice(place, 1);
      expect(loggedOut!.status).toBe(200);
      for (const { status } of answers) {
        expect([200, 401]).toContain(status);
        outcomes.add(status);
      }
      const given = [
        ...before,
        ...answers.filter(({ status }) => status === 200).map((answer) => dataOf<Tokens>(answer)),
      ];
      await expectDead(server, {
        refresh: [user.refreshToken, ...given.map(({ refresh_token }) => refresh_token)],
        access: [user.accessToken, ...given.map(({ access_token }) => access_token)],
      });
    }
    expect(outcomes, "both must have won now and then, or nothing was raced for").toEqual(
      new Set([200, 401]),
    );
    expect(await countOf(server, "_sessions WHERE revoked_at IS NULL")).toBe(0);
    expect(server.log.lines).toEqual([]);
  });
});

async function expectDead(
  server: TestServer,
  tokens: { readonly refresh: readonly string[]; readonly access: readonly string[] },
) {
  for (const token of new Set(tokens.refresh))
    expectRefusal(await refresh(client(server), token), 401, "invalid_refresh_token");
  for (const token of tokens.access) {
    const caller = client(server, { Authorization: `Bearer ${token}` });
    expectRefusal(await caller.get("/auth/me"), 401, "unauthorized");
    expectRefusal(await caller.get("/api/notes"), 401, "unauthorized");
  }
}
