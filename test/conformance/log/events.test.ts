import { describe, expect, it } from "vitest";
import { client, dataOf } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { serveWithDouble } from "../../support/oauth/double-server.js";
import { atProvider, authorize, deliver } from "../../support/oauth/flow.js";
import { member } from "../../support/people.js";
import { apiKey, serve, signUp, type TestServer } from "../../support/server.js";

const json = '[log]\nformat = "json"\n';
const password = "correct horse battery staple";

/** What the new lines say of security: the status, the event, who, and of whom. */
async function eventsOf(server: TestServer): Promise<readonly (readonly unknown[])[]> {
  await server.settled();
  return server.log.requests.splice(0).map((text) => {
    const line = JSON.parse(text) as Record<string, unknown>;
    expect(line.security).toBe(line.event === undefined ? undefined : true);
    const { status, event, principal, principal_id: id, target } = line;
    return [status, event, id === undefined ? principal : `${principal} ${id}`, target];
  });
}

/** The token of the link that was mailed last. */
function mailedToken(server: TestServer): string {
  return new URL(server.mail.messages.at(-1)!.link!).searchParams.get("token")!;
}

describe("a person's own", () => {
  it("registration, sign-ins and logout", async () => {
    const server = await serve({ schema: "{}", config: json });
    const anybody = client(server);
    const ada = await signUp(server, "ada@example.com");
    await anybody.post("/auth/register", { email: "ada@example.com", password });
    await anybody.post("/auth/login", { email: "ada@example.com", password: "wrong" });
    await anybody.post("/auth/login", { email: "nobody@example.com", password });
    await anybody.post("/auth/login", { email: "ada@example.com" });
    await anybody.post("/auth/login", { email: "ada@example.com", password });
    await client(server, ada.bearer).get("/auth/me");
    await anybody.get("/auth/me");
    await anybody.post("/auth/logout", { refresh_token: ada.refreshToken });
    await anybody.post("/auth/logout", { refresh_token: "svc_rt_unknown" });
    expect(await eventsOf(server)).toEqual([
      [201, "registration", `user ${ada.id}`, undefined],
      [409, "registration_failed", "-", undefined],
      [401, "sign_in_failed", "-", undefined],
      [401, "sign_in_failed", "-", undefined],
      [400, undefined, "-", undefined],
      [200, "sign_in", `user ${ada.id}`, undefined],
      [200, undefined, "user", undefined],
      [401, "access_refused", "-", undefined],
      [200, "logout", `user ${ada.id}`, undefined],
      [401, "token_refused", "-", undefined],
    ]);
  });

  it.each(["refresh", "logout"])("refresh token that comes back at %s ends the session", async (path) => {
    const server = await serve({ schema: "{}", config: json });
    const { refreshToken } = await member(server, "ada");
    const anybody = client(server);
    await anybody.post("/auth/refresh", { refresh_token: refreshToken });
    server.clock.advance(11_000);
    await anybody.post(`/auth/${path}`, { refresh_token: refreshToken });
    await anybody.post("/auth/refresh", { refresh_token: refreshToken });
    expect(await eventsOf(server)).toEqual([
      [200, undefined, "user", undefined],
      [401, "refresh_reuse", path === "refresh" ? "user ada" : "-", undefined],
      [401, "token_refused", "-", undefined],
    ]);
  });

  it("password, changed and reset by a link", async () => {
    const server = await serve({ schema: "{}", config: json });
    const { id, bearer } = await signUp(server, "ada@example.com");
    const ada = client(server, bearer);
    const next = "another horse entirely";
    await ada.post("/auth/password", { current_password: "wrong", password: next });
    await ada.post("/auth/password", { current_password: password, password: next });
    await ada.post("/auth/password-reset/request", { email: "ada@example.com" });
    await server.settled();
    const token = mailedToken(server);
    await ada.post("/auth/password-reset/confirm", { token, password });
    await ada.post("/auth/password-reset/confirm", { token, password });
    expect((await eventsOf(server)).slice(1)).toEqual([
      [403, "password_change_failed", `user ${id}`, undefined],
      [200, "password_changed", `user ${id}`, undefined],
      [202, "link_requested", "-", undefined],
      [200, "password_reset", `user ${id}`, undefined],
      [400, "link_refused", "-", undefined],
    ]);
  });

  it("address, session and account of one's own", async () => {
    const server = await serve({ schema: "{}", config: json });
    const { id, bearer } = await signUp(server, "ada@example.com");
    const ada = client(server, bearer);
    const remove = (given: string) =>
      ada.send("DELETE", "/auth/me", {
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ password: given }),
      });
    const email = "home@example.org";
    await ada.post("/auth/email", { email, password: "wrong" });
    await ada.post("/auth/email", { email, password });
    await server.settled();
    const { text } = server.mail.messages.find(({ to }) => to === email)!;
    const token = new URL(/https?:\/\/\S+/.exec(text)![0]).searchParams.get("token");
    await ada.get("/auth/sessions");
    await ada.delete("/auth/sessions/none");
    await remove("wrong");
    await remove(password);
    await ada.post("/auth/email/confirm", { token });
    expect((await eventsOf(server)).slice(1)).toEqual([
      [403, "email_change_failed", `user ${id}`, undefined],
      [202, "email_change_requested", `user ${id}`, undefined],
      [200, undefined, "user", undefined],
      [404, undefined, "-", undefined],
      [403, "account_deletion_failed", `user ${id}`, undefined],
      [200, "account_deleted", `user ${id}`, undefined],
      [400, "link_refused", "-", undefined],
    ]);
  });

  it("requests that the storage fails after it has known who they are", async () => {
    const storage = switchboard();
    const server = await serve({ schema: "{}", config: json, wrap: storage.wrap });
    const { bearer } = await signUp(server, "ada@example.com");
    storage.failing = (statements) => statements.some(({ sql }) => sql.includes("password_hash"));
    await client(server, bearer).post("/auth/password", { current_password: password, password: "another horse" });
    expect((await eventsOf(server)).slice(1)).toEqual([[503, undefined, "user", undefined]]);
  });

  it("failures past the throttle", async () => {
    const server = await serve({ schema: "{}", config: `${json}[auth.throttle]\nmax_failures = 1` });
    const anybody = client(server);
    for (const _ of [1, 2]) await anybody.post("/auth/login", { email: "ada@example.com", password: "wrong" });
    expect(await eventsOf(server)).toEqual([
      [401, "sign_in_failed", "-", undefined],
      [429, "throttled", "-", undefined],
    ]);
  });
});

it("links of mails: an invitation, a confirmation, a page's form", async () => {
  const server = await serve({ schema: "$auth: { email_verification: { required: true } }", config: json });
  const backend = client(server, await apiKey(server, "project:backend"));
  const anybody = client(server);
  await backend.post("/auth/users/invite", { email: "bob@example.com" });
  await server.settled();
  const token = mailedToken(server);
  const form = (sent: string) =>
    anybody.send("POST", "/auth/pages/accept-invitation", {
      headers: { "Content-Type": "application/x-www-form-urlencoded", Origin: "http://127.0.0.1:8787" },
      body: new URLSearchParams({ token: sent, password }).toString(),
    });
  await form(token);
  await form(token);
  await anybody.post("/auth/register", { email: "ada@example.com", password });
  await server.settled();
  await anybody.post("/auth/email-verification/confirm", { token: mailedToken(server) });
  await anybody.post("/auth/invitations/accept", { token: "unknown", password });
  const events = await eventsOf(server);
  expect(events.map(([status, event]) => [status, event])).toEqual([
    [201, "invitation_sent"],
    [200, "link_used"],
    [400, "link_refused"],
    [202, "registration"],
    [200, "sign_in"],
    [400, "sign_in_failed"],
  ]);
  expect(events.map(([, , who]) => String(who).split(" ")[0])).toEqual(["key", "user", "-", "-", "user", "-"]);
});

it("sign-ins at a provider", async () => {
  const { server } = await serveWithDouble({ config: json });
  const back = await atProvider(await authorize(server, "google"));
  await deliver(server, back);
  await deliver(server, back);
  await client(server).post("/auth/oauth/exchange", { code: "unknown", code_verifier: "v".repeat(43) });
  expect((await eventsOf(server)).map(([status, event]) => [status, event])).toEqual([
    [200, undefined],
    [303, undefined],
    [400, "sign_in_failed"],
    [400, "sign_in_failed"],
  ]);
});

it("a page of another origin", async () => {
  const server = await serve({
    schema: "{}",
    config: `${json}[auth]\ncookie_mode = true\n[cors]\nallowed_origins = ["https://app.example.com"]`,
  });
  const foreign = { Origin: "https://evil.example" };
  await client(server, foreign).post("/auth/login", { email: "ada@example.com", password });
  await client(server, foreign).send("POST", "/auth/pages/reset-password", { body: "token=of-the-link" });
  expect(await eventsOf(server)).toEqual([
    [403, "cross_site_refused", "-", undefined],
    [403, "cross_site_refused", "-", undefined],
  ]);
});

describe("what administrators do", () => {
  it("to users", async () => {
    const server = await serve({ schema: "{}", config: json });
    const { bearer } = await member(server, "root", "admin");
    const root = client(server, bearer);
    const made = await root.post("/admin/api/users", { email: "bob@example.com", password });
    const { id } = dataOf<{ user: { id: string } }>(made).user;
    await root.patch(`/admin/api/users/${id}`, { role: "admin" });
    await root.patch(`/admin/api/users/${id}`, { role: "user" });
    await root.patch(`/admin/api/users/${id}`, { disabled: true });
    await root.patch(`/admin/api/users/${id}`, { disabled: false });
    await root.post(`/admin/api/users/${id}/revoke-sessions`, {});
    await root.delete(`/admin/api/users/${id}`);
    await root.delete(`/admin/api/users/${id}`);
    await client(server).get("/admin/api/users");
    const { bearer: bobs } = await member(server, "carl");
    await client(server, bobs).get("/admin/api/users");
    expect(await eventsOf(server)).toEqual([
      [201, "user_created", "user root", id],
      [200, "user_promoted", "user root", id],
      [200, "user_demoted", "user root", id],
      [200, "user_disabled", "user root", id],
      [200, "user_enabled", "user root", id],
      [200, "sessions_revoked", "user root", id],
      [200, "user_deleted", "user root", id],
      [404, "admin_failed", "user root", undefined],
      [401, "access_refused", "anonymous", undefined],
      [403, "access_refused", "user carl", undefined],
    ]);
  });

  it("to keys, users of elsewhere and the schema", async () => {
    const server = await serve({ schema: "{}", config: json });
    const { bearer } = await member(server, "root", "admin");
    const root = client(server, bearer);
    const made = await root.post("/admin/api/service-keys", { name: "ci", scopes: ["project:backend"] });
    const { id, key } = dataOf<{ id: string; key: string }>(made);
    const backend = client(server, { Authorization: `Bearer ${key}` });
    await backend.post("/auth/users/import", { users: [{ id: "bob", email: "bob@example.com" }] });
    await backend.send("POST", "/admin/api/schema/plan", {});
    await backend.send("POST", "/admin/api/schema/apply", {});
    await root.delete(`/admin/api/service-keys/${id}`);
    await backend.get("/admin/api/users");
    expect(await eventsOf(server)).toEqual([
      [201, "key_created", "user root", id],
      [200, "users_imported", `key ${id}`, undefined],
      [200, "admin_read", `key ${id}`, undefined],
      [200, "schema_applied", `key ${id}`, undefined],
      [200, "key_revoked", "user root", id],
      [401, "access_refused", "-", undefined],
    ]);
  });
});
