import { expect, it } from "vitest";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { serve, signUp } from "../../support/server.js";

const schema = `
notes:
  columns:
    id: { type: integer, primary_key: true }
    for_email: { type: text }
    for_verified: { type: boolean }
    secret: { type: text }
`;

async function notes(rules: string) {
  const server = await serve({ schema, config: `usage.enabled = false\n${rules}` });
  await run(
    server,
    "INSERT INTO notes VALUES (1, 'ada@example.com', 1, 'x'), (2, 'bob@example.com', 0, 'y'), (3, NULL, NULL, 'z')",
  );
  return server;
}

type Server = Awaited<ReturnType<typeof notes>>;

const confirm = (server: Server, id: string, confirmed: 0 | 1) =>
  run(server, `UPDATE _users SET email_verified = ${confirmed} WHERE id = ?`, id);

async function adaOf(server: Server) {
  return client(server, (await member(server, "ada")).bearer);
}

it.each([
  ["auth.email_verified", null, [1, 2, 3]],
  ["not auth.email_verified", [1, 2, 3], null],
  ["auth.email_verified = false", [1, 2, 3], null],
  ["auth.email_verified is not null", [1, 2, 3], [1, 2, 3]],
  ["auth.email_verified and row.for_email = auth.email", null, [1]],
  ["auth.email_verified or row.id = 2", [2], [1, 2, 3]],
  ["row.for_verified = auth.email_verified", [2], [1]],
  ["exists(notes n where n.id = row.id and n.for_verified = auth.email_verified)", [2], [1]],
  ["auth.email_verified in (true, null)", null, [1, 2, 3]],
] as const)("%s admits %j before the address is confirmed, and %j behind it", async (rule, before, behind) => {
  const server = await notes(`[rules.notes]\nread = "${rule}"`);
  const ada = await adaOf(server);
  const expectList = async (ids: readonly number[] | null) => {
    const answer = await ada.get("/api/notes?select=id&sort=id");
    if (ids === null) expectRefusal(answer, 403, "forbidden");
    else expect(dataOf(answer)).toEqual(ids.map((id) => ({ id })));
  };
  await expectList(before);
  await confirm(server, "ada", 1);
  await expectList(behind);
  await confirm(server, "ada", 0);
  await expectList(before);
});

it("nobody who is not signed in has it, nor its not", async () => {
  for (const rule of ["auth.email_verified", "not auth.email_verified", "auth.email_verified != true"]) {
    const server = await notes(`[rules.notes]\nread = "${rule}"`);
    expectRefusal(await client(server).get("/api/notes"), 401, "unauthorized");
  }
});

it("a write that was allowed a request ago is refused once the address is none of theirs any more", async () => {
  const server = await notes('[rules.notes]\ncreate = "auth.email_verified"\nread = "public"');
  const ada = await adaOf(server);
  await confirm(server, "ada", 1);
  expect((await ada.post("/api/notes", {})).status).toBe(201);
  await confirm(server, "ada", 0);
  expectRefusal(await ada.post("/api/notes", {}), 403, "forbidden");
  expect((await run(server, "SELECT count(*) AS n FROM notes")).rows).toEqual([[4]]);
});

it("callers who differ in it alone are told apart, in columns too", async () => {
  const server = await notes(
    '[rules.notes]\nread = "public"\n[rules.notes.columns.secret]\nread = "auth.email_verified"',
  );
  const ada = await adaOf(server);
  const bob = client(server, (await member(server, "bob")).bearer);
  await confirm(server, "ada", 1);
  for (let i = 0; i < 2; i++) {
    expect((await ada.get("/api/notes/1")).text).toContain('"secret":"x"');
    expect((await bob.get("/api/notes/1")).text).not.toContain("secret");
  }
});

it("a registration has it not, and a link to the address gives it to the same session's next request", async () => {
  const server = await notes('[rules.notes]\nread = "auth.email_verified"');
  const { id, bearer } = await signUp(server, "carl@example.com");
  const carl = client(server, bearer);
  expectRefusal(await carl.get("/api/notes"), 403, "forbidden");
  await confirm(server, id, 1);
  expect((await carl.get("/api/notes")).status).toBe(200);
});
