import { expect, it } from "vitest";
import { expectRefusal } from "../../support/client.js";
import { countOf, rowsOf, run } from "../../support/people.js";
import { serve, signUp, type TestServer } from "../../support/server.js";
import { ada, askFor, deleteMe, duringTheCheck, home, plain } from "./support.js";

const changes = [
  ["the session ends", "UPDATE _sessions SET revoked_at = 1"],
  ["the user is disabled", "UPDATE _users SET disabled = 1"],
  ["the password changes", "UPDATE _users SET password_hash = 'another'"],
  ["the password goes", "UPDATE _users SET password_hash = NULL"],
  ["the user is deleted", "DELETE FROM _users"],
] as const;

/** What is there of accounts, links and mails. */
const kept = async (server: TestServer) => [
  await rowsOf(server, "SELECT email FROM _users"),
  await countOf(server, "_links"),
  await countOf(server, "_outbox"),
];

it.each(changes)("nothing is done where %s while the password is checked", async (_, sql) => {
  const server = await serve(plain);
  for (const attempt of [
    askFor,
    (of: TestServer, { bearer }: { bearer: Record<string, string> }) => deleteMe(of, bearer),
  ]) {
    await run(server, "DELETE FROM _users");
    const user = await signUp(server, ada);
    let before: unknown;
    duringTheCheck(server, async () => {
      await run(server, sql);
      before = await kept(server);
    });
    const answer = await attempt(server, user, home);
    duringTheCheck(server, async () => {});
    expectRefusal(answer, 403, "invalid_credentials");
    await server.settled();
    expect(await kept(server)).toEqual(before);
    expect(server.mail.messages).toEqual([]);
  }
});
