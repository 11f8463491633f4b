import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, signUp, signUpAdmin } from "../../support/server.js";
import { lastToken } from "../links/support.js";
import {
  ada,
  anotherSession,
  askedFor,
  confirm,
  deleteMe,
  forgetPassword,
  home,
  logIn,
  minute,
  plain,
  refreshed,
} from "./support.js";

const referring = (onDelete: string, more = "") => `
notes:
  history: forever
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, references: { table: $users, on_delete: ${onDelete} } }
${more}`;
const config = `[rules.notes]
read = "true"
create = "new.owner_id = auth.id"
history = "true"`;

describe("DELETE /auth/me", () => {
  it("deletes the account with its sessions, and what belongs to it as foreign keys say", async () => {
    const server = await serve({ schema: referring("cascade"), config });
    const user = await signUp(server, ada);
    const other = await anotherSession(server, ada);
    const stranger = await member(server, "stranger");
    for (const { bearer, id } of [user, stranger])
      expect((await client(server, bearer).post("/api/notes", { owner_id: id })).status).toBe(201);
    const answer = await deleteMe(server, user.bearer);
    expectAnswer(answer, 200, { data: { deleted: true } });
    expect(answer.headers.get("Set-Cookie")).toBeNull();
    for (const session of [user, other]) {
      expectRefusal(await client(server, session.bearer).get("/auth/me"), 401, "unauthorized");
      expectRefusal(await refreshed(server, session), 401, "invalid_refresh_token");
    }
    expectRefusal(await deleteMe(server, user.bearer), 401, "unauthorized");
    expectRefusal(await logIn(server, ada), 401, "invalid_credentials");
    expect(await rowsOf(server, "SELECT id FROM _users")).toEqual([["stranger"]]);
    for (const table of ["_refresh_tokens", "_sessions"]) expect(await countOf(server, table)).toBe(1);
    expect(await countOf(server, "_known_addresses")).toBe(0);
    expect(await rowsOf(server, "SELECT owner_id FROM notes")).toEqual([["stranger"]]);
    expect((await signUp(server, ada)).id).not.toBe(user.id);
  });

  it("leaves the id out of who has changed rows, its own deletion included", async () => {
    const server = await serve({ schema: referring("set_null"), config });
    const user = await signUp(server, ada);
    await client(server, user.bearer).post("/api/notes", { owner_id: user.id });
    expect((await deleteMe(server, user.bearer)).status).toBe(200);
    const key = client(server, await apiKey(server, "project:backend"));
    const versions = dataOf(await key.get("/api/notes/_svc/history"));
    expect(versions).toMatchObject([
      { op: "update", by: { kind: "user", id: null }, row: { owner_id: null } },
      { op: "insert", by: { kind: "user", id: null } },
    ]);
    expect(await rowsOf(server, "SELECT principal_id FROM _transactions")).toEqual([[null], [null]]);
  });

  it("takes the links of the account along", async () => {
    const server = await serve(plain);
    const user = await signUp(server, ada);
    const change = await askedFor(server, user, home);
    await client(server).post("/auth/password-reset/request", { email: ada });
    const token = await lastToken(server, ada);
    expect((await deleteMe(server, user.bearer)).status).toBe(200);
    expectRefusal(await confirm(server, change), 400, "invalid_token");
    const reset = await client(server).post("/auth/password-reset/confirm", {
      token,
      password: "a new horse",
    });
    expectRefusal(reset, 400, "invalid_token");
    expect(await countOf(server, "_users")).toBe(0);
  });

  it("with a wrong password is 403, counts like a failed login, and deletes nothing", async () => {
    const server = await serve({ ...plain, config: "[auth.throttle]\nmax_failures = 1" });
    const user = await signUp(server, ada);
    expectRefusal(await deleteMe(server, user.bearer, { password: "wrong" }), 403, "invalid_credentials");
    const late = await deleteMe(server, user.bearer);
    expectRefusal(late, 429, "rate_limited");
    expect(Number(late.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect((await client(server, user.bearer).get("/auth/me")).status).toBe(200);
  });

  it("needs the password of an account that has one, however recent the sign-in", async () => {
    const server = await serve(plain);
    const { bearer } = await signUp(server, ada);
    for (const body of [{}, { password: null }])
      expectRefusal(await deleteMe(server, bearer, body), 403, "password_needed");
    expectRefusal(await deleteMe(server, bearer, { password: 1 }), 400, "bad_request");
    expectRefusal(await deleteMe(server, bearer, { password: "x".repeat(1025) }), 400, "bad_request");
    expectRefusal(await deleteMe(server, bearer, ["password"]), 400, "bad_request");
    expectRefusal(await client(server, bearer).delete("/auth/me"), 415, "unsupported_media_type");
    expect(await countOf(server, "_users")).toBe(1);
  });

  it("of an account without a password takes a sign-in of the last five minutes, which a refresh is not", async () => {
    const server = await serve(plain);
    const [recent, late] = [await member(server, "recent"), await member(server, "late")];
    for (const { id } of [recent, late]) await forgetPassword(server, id);
    expectRefusal(await deleteMe(server, recent.bearer, { password: "none" }), 403, "invalid_credentials");
    server.clock.advance(5 * minute - 1);
    expectAnswer(await deleteMe(server, recent.bearer, {}), 200, { data: { deleted: true } });
    server.clock.advance(1);
    expectRefusal(await deleteMe(server, late.bearer, {}), 403, "password_needed");
    const { access_token } = dataOf<{ access_token: string }>(await refreshed(server, late));
    const bearer = { Authorization: `Bearer ${access_token}` };
    expectRefusal(await deleteMe(server, bearer, {}), 403, "password_needed");
    expect(await rowsOf(server, "SELECT id FROM _users")).toEqual([["late"]]);
  });

  it("is 409 for the last administrator, and of two at once lets one go", async () => {
    const server = await serve(plain);
    const root = await signUpAdmin(server, "root@example.com");
    await signUp(server, ada);
    expectRefusal(await deleteMe(server, root.bearer), 409, "conflict");
    expect((await client(server, root.bearer).get("/auth/me")).status).toBe(200);
    const second = await signUpAdmin(server, "second@example.com");
    const answers = await Promise.all([root, second].map(({ bearer }) => deleteMe(server, bearer)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await rowsOf(server, "SELECT count(*) FROM _users WHERE role = 'admin'")).toEqual([[1]]);
  });

  it.each(["restrict", "no_action"])(
    "is 409 where a row refers to the user with %s, which changes and counts nothing",
    async (onDelete) => {
      const throttle = "[auth.throttle]\nmax_failures = 1\n";
      const server = await serve({ schema: referring(onDelete), config: throttle + config });
      const user = await signUp(server, ada);
      await client(server, user.bearer).post("/api/notes", { owner_id: user.id });
      for (let tries = 0; tries < 3; tries++) {
        const message = expectRefusal(await deleteMe(server, user.bearer), 409, "conflict");
        expect(message).not.toMatch(/notes|owner_id/);
      }
      expect(await countOf(server, "_users")).toBe(1);
      expect((await client(server, user.bearer).get("/auth/me")).status).toBe(200);
      await run(server, "DELETE FROM notes");
      expect((await deleteMe(server, user.bearer)).status).toBe(200);
    },
  );

  it("is refused in the words of a trigger of the project's, where that does", async () => {
    const trigger = `  triggers:
    keep: "before delete on notes begin select raise(abort, 'a team keeps its owner'); end"`;
    const server = await serve({ schema: referring("cascade", trigger), config });
    const user = await signUp(server, ada);
    await client(server, user.bearer).post("/api/notes", { owner_id: user.id });
    const message = expectRefusal(await deleteMe(server, user.bearer), 409, "conflict");
    expect(message).toContain("a team keeps its owner");
    expect(await countOf(server, "notes")).toBe(1);
  });

  it("is for users, and beside GET the only method that /auth/me has", async () => {
    const server = await serve(plain);
    expectRefusal(await deleteMe(server, {}), 401, "unauthorized");
    const key = await apiKey(server, "project:backend");
    expectRefusal(await deleteMe(server, key, {}), 403, "forbidden");
    const patched = await client(server).patch("/auth/me", {});
    expectRefusal(patched, 405, "method_not_allowed");
    expect(patched.headers.get("Allow")).toBe("GET, DELETE");
  });
});
