import { describe, expect, it } from "vitest";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { run } from "../../support/people.js";
import { serve, signUp, signUpAdmin } from "../../support/server.js";
import { backend, lastToken, notes } from "../links/support.js";

const project = { schema: notes };
const ada = "Ada.Lovelace@example.com";
const right = "correct horse battery staple";

const weak = [
  ["one of the most used ones", "letmein"],
  ["one of the most used ones in another case", "PassWord1"],
  ["the account's address", "ada.lovelace@EXAMPLE.com"],
  ["the address up to its @", "Ada.Lovelace"],
];

describe.each(weak)("a password that is %s is refused", (_, password) => {
  it("at a registration, which stores nobody", async () => {
    const server = await serve(project);
    expectRefusal(await client(server).post("/auth/register", { email: ada, password }), 400, "weak_password");
    expect((await run(server, "SELECT 1 FROM _users")).rows).toEqual([]);
  });

  it("at a reset, which leaves the link as it is", async () => {
    const server = await serve(project);
    await signUp(server, ada);
    await client(server).post("/auth/password-reset/request", { email: ada });
    const token = await lastToken(server, ada);
    const confirm = (text: string) => client(server).post("/auth/password-reset/confirm", { token, password: text });
    expectRefusal(await confirm(password!), 400, "weak_password");
    expect((await confirm("another horse")).status).toBe(200);
  });

  it("at a change of the password, which ends no session", async () => {
    const server = await serve(project);
    const caller = client(server, (await signUp(server, ada)).bearer);
    const change = { current_password: right, password };
    expectRefusal(await caller.post("/auth/password", change), 400, "weak_password");
    expect((await caller.get("/auth/me")).status).toBe(200);
  });

  it("where an invitation is accepted, which leaves the link as it is", async () => {
    const server = await serve(project);
    await (await backend(server)).post("/auth/users/invite", { email: ada });
    const token = await lastToken(server, ada);
    const accept = (text: string) => client(server).post("/auth/invitations/accept", { token, password: text });
    expectRefusal(await accept(password!), 400, "weak_password");
    expect((await accept("another horse")).status).toBe(200);
  });

  it("where an administrator makes the user", async () => {
    const server = await serve(project);
    const admin = client(server, (await signUpAdmin(server, "root@example.com")).bearer);
    expectRefusal(await admin.post("/admin/api/users", { email: ada, password }), 400, "weak_password");
    expect((await admin.post("/admin/api/users", { email: ada, password: right })).status).toBe(201);
  });
});

it("a sign-in with such a password is one like any other, as it may be older than the list", async () => {
  const server = await serve(project);
  await signUp(server, ada);
  // The hash of "password" with the current parameters.
  const phc = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$K13EBUiG7JV+9ZxztmHFTdb7J0WQsnj2V8bZaqyPptE";
  await run(server, "UPDATE _users SET password_hash = ?", phc);
  const answer = await client(server).post("/auth/login", { email: ada, password: "password" });
  expect(dataOf<{ user: { email: string } }>(answer).user.email).toBe(ada);
});
