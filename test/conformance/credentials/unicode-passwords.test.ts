import { describe, expect, it } from "vitest";
import { makeSetupLink } from "../../../src/auth/links/setup-link.js";
import { type Answer, client, dataOf, expectRefusal } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { serve, signUpAdmin, type TestServer } from "../../support/server.js";
import { ownPage } from "../console/support.js";
import { backend, countHashes, lastToken, notes } from "../links/support.js";

// The same text, with letters and marks composed and decomposed.
const nfc = "Crème brûlée für Zoë".normalize("NFC");
const nfd = nfc.normalize("NFD");
const next = "Smörgåsbord über Ålesund".normalize("NFC");
const project = { schema: notes };
const ada = "ada@example.com";

const logIn = (server: TestServer, password: string, email = ada): Promise<Answer> =>
  client(server).post("/auth/login", { email, password });

/** Both forms of a password sign in. */
async function expectBothForms(server: TestServer, password: string, email = ada): Promise<void> {
  for (const form of ["NFC", "NFD"]) {
    const answer = await logIn(server, password.normalize(form), email);
    expect([form, answer.status]).toEqual([form, 200]);
  }
}

const signedIn = async (server: TestServer, password: string) => {
  const { access_token } = dataOf<{ access_token: string }>(await logIn(server, password));
  return client(server, { Authorization: `Bearer ${access_token}` });
};

describe("a password that was set in one Unicode form signs in in the other", () => {
  it.each([nfc, nfd])("registered (%#)", async (password) => {
    const server = await serve(project);
    expect((await client(server).post("/auth/register", { email: ada, password })).status).toBe(201);
    await expectBothForms(server, password);
    expectRefusal(await logIn(server, nfc.replaceAll("\u00e8", "e")), 401, "invalid_credentials");
  });

  it("registered with an address that has to be confirmed", async () => {
    const server = await serve({ schema: `$auth: { email_verification: { required: true } }\n${notes}` });
    await client(server).post("/auth/register", { email: ada, password: nfd });
    const token = await lastToken(server, ada);
    expect((await client(server).post("/auth/email-verification/confirm", { token })).status).toBe(200);
    await expectBothForms(server, nfc);
  });

  it("changed, by the current one in the other form, and reset", async () => {
    const server = await serve(project);
    await client(server).post("/auth/register", { email: ada, password: nfc });
    const change = { current_password: nfd, password: next.normalize("NFD") };
    expect((await (await signedIn(server, nfd)).post("/auth/password", change)).status).toBe(200);
    await expectBothForms(server, next);
    await client(server).post("/auth/password-reset/request", { email: ada });
    const token = await lastToken(server, ada);
    const reset = await client(server).post("/auth/password-reset/confirm", { token, password: nfd });
    expect(reset.status).toBe(200);
    await expectBothForms(server, nfc);
  });

  it("set with an invitation, and by an administrator", async () => {
    const server = await serve(project);
    await (await backend(server)).post("/auth/users/invite", { email: ada });
    const token = await lastToken(server, ada);
    expect((await client(server).post("/auth/invitations/accept", { token, password: nfd })).status).toBe(200);
    await expectBothForms(server, nfc);
    const admin = client(server, (await signUpAdmin(server, "root@example.com")).bearer);
    const bob = "bob@example.com";
    expect((await admin.post("/admin/api/users", { email: bob, password: nfd })).status).toBe(201);
    await expectBothForms(server, nfc, bob);
  });

  it("of the console's first administrator, who confirms with it", async () => {
    const server = await serve(project);
    const token = (await makeSetupLink(server.platform))!.slice("#/setup/".length);
    const page = client(server, ownPage);
    expect((await page.post("/admin/api/setup", { token, email: ada, password: nfd })).status).toBe(201);
    const session = await page.post("/admin/api/session", { email: ada, password: nfc });
    expect(session.status).toBe(200);
    const Cookie = session.headers.getSetCookie()[0]!.split(";")[0]!;
    const confirmed = await client(server, { ...ownPage, Cookie }).post("/admin/api/session/confirm", {
      password: nfd,
    });
    expect(confirmed.status).toBe(200);
  });

  it("as proof for a new address and for the account's deletion", async () => {
    const server = await serve(project);
    await client(server).post("/auth/register", { email: ada, password: nfc });
    const me = await signedIn(server, nfd);
    expect((await me.post("/auth/email", { email: "home@example.org", password: nfd })).status).toBe(202);
    const gone = await me.send("DELETE", "/auth/me", {
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ password: nfd }),
    });
    expect(gone.status).toBe(200);
  });
});

describe("a hash of a password that is not in NFC", () => {
  it("that an earlier release has made fits as it was typed, and is replaced by the sign-in", async () => {
    const server = await serve(project);
    await client(server).post("/auth/register", { email: ada, password: next });
    await run(server, "UPDATE _users SET password_hash = ?", await server.platform.passwordHasher.hash(nfd));
    expectRefusal(await logIn(server, nfc), 401, "invalid_credentials");
    expect((await logIn(server, nfd)).status).toBe(200);
    await expectBothForms(server, nfc);
    const hash = await rowsOf(server, "SELECT password_hash FROM _users");
    await expectBothForms(server, nfc);
    expect(await rowsOf(server, "SELECT password_hash FROM _users")).toEqual(hash);
  });

  it("that was imported fits too", async () => {
    const server = await serve(project);
    const password_hash = await server.platform.passwordHasher.hash(nfd);
    const users = [{ id: "ada", email: ada, password_hash }];
    expect((await (await backend(server)).post("/auth/users/import", { users })).status).toBe(200);
    expect((await logIn(server, nfd)).status).toBe(200);
    await expectBothForms(server, nfc);
  });
});

it("a wrong password in another form costs two hashes, whoever is asked for", async () => {
  const server = await serve(project);
  await client(server).post("/auth/register", { email: ada, password: next });
  await member(server, "social");
  await run(server, "UPDATE _users SET password_hash = NULL WHERE id = 'social'");
  const hashes = countHashes(server);
  const costOf = async (email: string, password: string) => {
    hashes.count = 0;
    expectRefusal(await logIn(server, password, email), 401, "invalid_credentials");
    return hashes.count;
  };
  for (const email of [ada, "social@example.com", "unknown@example.com"])
    expect([email, await costOf(email, nfc), await costOf(email, nfd)]).toEqual([email, 1, 2]);
});

describe("the limits of a password hold for NFC", () => {
  const register = async (password: string, email = ada) =>
    client(await serve(project)).post("/auth/register", { email, password });

  it("of characters", async () => {
    expectRefusal(await register("\u00e9ab\u00e9\u00e9".normalize("NFD")), 400, "weak_password");
    expect((await register("\u00e9ab\u00e9\u00e9x".normalize("NFD"))).status).toBe(201);
  });

  it("of bytes, at a sign-in too", async () => {
    const longest = "\u00e9".repeat(512);
    const server = await serve(project);
    const credentials = { email: ada, password: longest.normalize("NFD") };
    expect((await client(server).post("/auth/register", credentials)).status).toBe(201);
    await expectBothForms(server, longest);
    expectRefusal(await logIn(server, `${longest}x`.normalize("NFD")), 400, "bad_request");
    expectRefusal(await register(`${longest}x`), 400, "bad_request");
  });

  it("as one of the most used ones, and as the own address", async () => {
    // The Kelvin sign is a K in NFC.
    expectRefusal(await register("\u212aermit"), 400, "weak_password");
    expectRefusal(await register("zo\u0065\u0308-lee", "zo\u00eb-lee@example.com"), 400, "weak_password");
  });
});
