import { describe, expect, it } from "vitest";
import type { Database } from "../../../src/platform/database.js";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { countOf, member, rowsOf } from "../../support/people.js";
import { type SignedIn, serve, type TestServer } from "../../support/server.js";
import type { Tokens } from "./support.js";

const project = {
  schema: "notes: { columns: { id: { type: integer, primary_key: true } } }",
  config: 'usage.enabled = false\nrules.notes.read = "authenticated"',
};

// Elsewhere every request costs many times as much.
const share = (process.env.SVC_TARGET ?? "app") === "app" ? 1 : 0.1;

const refresh = (anonymous: Client, refresh_token: string) => anonymous.post("/auth/refresh", { refresh_token });

describe("fifty refreshes of one token at once", () => {
  const rounds = 50 * share;

  it(`are fifty 200 with one successor, ${rounds} times`, async () => {
    const server = await serve(project);
    const anonymous = client(server);
    for (let round = 0; round < rounds; round++) {
      const user = await member(server, `user${round}`);
      const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(anonymous, user.refreshToken)));
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
    const start = startingLine();
    const server = await serve({ ...project, wrap: start.wrap });
    const anonymous = client(server);
    const outcomes = [];
    for (let round = 0; round < rounds; round++) {
      const user = await member(server, `user${round}`);
      // In turns: of a new token, and of one that is rotated already while its successor is refreshed.
      const before = round % 2 === 0 ? [] : [dataOf<Tokens>(await refresh(anonymous, user.refreshToken))];
      const latest = before[0]?.refresh_token ?? user.refreshToken;
      start.holdNext(3, round >> 1);
      const [loggedOut, ...answers] = await Promise.all([
        anonymous.post("/auth/logout", { refresh_token: user.refreshToken }),
        refresh(anonymous, latest),
        refresh(anonymous, latest),
      ]);
      expect(loggedOut.status).toBe(200);
      for (const { status } of answers) expect([200, 401]).toContain(status);
      outcomes.push(answers.filter(({ status }) => status === 200).length);
      const given = [
        ...before,
        ...answers.filter(({ status }) => status === 200).map((answer) => dataOf<Tokens>(answer)),
      ];
      await expectDead(server, {
        refresh: [user.refreshToken, ...given.map(({ refresh_token }) => refresh_token)],
        access: [user.accessToken, ...given.map(({ access_token }) => access_token)],
      });
    }
    // The logout came before, between and after the refreshes, or nothing was raced for.
    expect(new Set(outcomes)).toEqual(new Set([0, 1, 2]));
    expect(await countOf(server, "_sessions WHERE revoked_at IS NULL")).toBe(0);
    expect(server.log.lines).toEqual([]);
  });
});

/**
 * Holds writes until so many of them have come, and lets them go at once in a rotated order. A logout has less to
 * compute than a refresh: without this it would always come first.
 */
function startingLine() {
  const waiting: (() => void)[] = [];
  let size = 0;
  let turn = 0;
  const release = () => {
    size = 0;
    const all = waiting.splice(0);
    const first = turn % all.length;
    for (const go of [...all.slice(first), ...all.slice(0, first)]) go();
  };
  return {
    holdNext(count: number, rotation: number) {
      size = count;
      turn = rotation;
    },
    wrap: (database: Database): Database => ({
      query: (statements) => database.query(statements),
      batch: (statements) => {
        if (size === 0) return database.batch(statements);
        return new Promise((resolve) => {
          if (waiting.push(() => resolve(database.batch(statements))) === size) release();
        });
      },
      migrate: (statements) => database.migrate(statements),
      foreignKeysStayOn: database.foreignKeysStayOn,
      answerBytesMax: database.answerBytesMax,
      imageBytesMax: database.imageBytesMax,
      statementsMax: database.statementsMax,
      close: () => database.close(),
    }),
  };
}

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
