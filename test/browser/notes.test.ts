import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { freePort } from "../support/free-port.js";
import { certifiedProvider } from "../support/oauth/certified-provider.js";
import { serve, type TestServer } from "../support/server.js";
import { describeInChromium, requestsOf, servePages } from "./chromium.js";

const email = "ada@example.com";
const password = "correct horse";
const accessTokenMs = 900_000;

interface Setting {
  readonly server: TestServer;
  readonly api: string;
  /** The origin that is allowed. */
  readonly app: string;
}

async function start(): Promise<Setting> {
  const api = `https://localhost:${await freePort("localhost")}`;
  const app = await servePages(api);
  const provider = await certifiedProvider({
    clientId: "the notes",
    redirectUri: `${api}/auth/oauth/callback/google`,
    secret: "a secret of the notes",
    pkceRequired: true,
  });
  provider.account = { sub: "ada", email, email_verified: true, hd: "example.com" };
  const server = await serve(
    {
      schema: `
$auth: { providers: [google], redirect_urls: ["${app}/"] }
notes:
  history: 30d
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, not_null: true, references: { table: $users, on_delete: cascade } }
    body: { type: text, not_null: true, check: "length(body) between 1 and 500" }
  indexes: [{ columns: [owner_id, id] }]
`,
      config: `
[auth]
cookie_mode = true
cookie_tokens_in_body = false
public_base_url = "${api}"
[cors]
allowed_origins = ["${app}"]
[rules.notes]
read = "row.owner_id = auth.id"
create = "new.owner_id = auth.id"
delete = "row.owner_id = auth.id"
`,
      credentials: {
        google: JSON.stringify({ client_id: "the notes", client_secret: "a secret of the notes" }),
      },
      providerEndpoints: { google: provider.endpoints },
    },
    "tls",
  );
  return { server, api, app };
}

async function signIn(page: Page, button: string): Promise<void> {
  await page.getByPlaceholder("Email").fill(email);
  await page.getByPlaceholder("Password").fill(password);
  await page.getByRole("button", { name: button, exact: true }).click();
}

async function add(page: Page, body: string): Promise<void> {
  await page.getByPlaceholder("What is on your mind?").fill(body);
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("listitem").filter({ hasText: body }).waitFor();
}

async function signedIn(page: Page): Promise<void> {
  await page.getByText(`Signed in as ${email}`).waitFor();
  await page.getByPlaceholder("Password").waitFor({ state: "hidden" });
}

async function signedOut(page: Page): Promise<void> {
  await page.getByPlaceholder("Password").waitFor();
  await page.getByText(`Signed in as ${email}`).waitFor({ state: "hidden" });
}

describeInChromium("an application in Chromium, over HTTPS from another origin", (open) => {
  it("registers, keeps its session in cookies that scripts cannot read, and over a reload", async () => {
    const { api, app } = await start();
    const { context, page } = await open(app);
    await signIn(page, "Register");
    await signedIn(page);
    await add(page, "buy milk");
    await page.reload();
    await page.getByRole("listitem").filter({ hasText: "buy milk" }).waitFor();
    const cookies = await context.cookies(api);
    expect(cookies.map(({ name, httpOnly, secure, sameSite }) => [name, httpOnly, secure, sameSite])).toEqual([
      ["svc_access", true, true, "Lax"],
      ["svc_refresh", true, true, "Lax"],
    ]);
    expect(await page.evaluate("document.cookie")).toBe("");
    const stored = await page.evaluate("JSON.stringify(localStorage)");
    for (const { value } of cookies) expect(stored).not.toContain(value);
    if (process.env.UPDATE_SCREENSHOT) {
      for (const body of ["call the bank", "water the plants"]) await add(page, body);
      await page.setViewportSize({ width: 640, height: 480 });
      await page.screenshot({ path: "test/browser/screenshot.png" });
    }
  });

  it("goes on after its access token has ended, with one refresh", async () => {
    const { server, app } = await start();
    const { context, page } = await open(app);
    await signIn(page, "Register");
    await signedIn(page);
    const refreshes = requestsOf(context, "/auth/refresh");
    server.clock.advance(accessTokenMs);
    await add(page, "still here");
    expect(refreshes.count).toBe(1);
  });

  it("refreshes once for two tabs", async () => {
    const { server, app } = await start();
    const { context, page } = await open(app);
    await signIn(page, "Register");
    await add(page, "shared");
    const other = await context.newPage();
    await other.goto(app);
    await other.getByRole("listitem").filter({ hasText: "shared" }).waitFor();
    const refreshes = requestsOf(context, "/auth/refresh");
    // A tab that is still there while the other has gone would take the stream over, refresh, and then be reloaded amid it.
    for (const tab of [page, other]) await tab.goto("about:blank");
    server.clock.advance(accessTokenMs);
    await Promise.all([page, other].map((tab) => tab.goto(app)));
    for (const tab of [page, other]) await tab.getByRole("listitem").filter({ hasText: "shared" }).waitFor();
    expect(refreshes.count).toBe(1);
  });

  it("shows in every tab that one of them has signed out", async () => {
    const { api, app } = await start();
    const { context, page } = await open(app);
    await signIn(page, "Register");
    await signedIn(page);
    const other = await context.newPage();
    await other.goto(app);
    await signedIn(other);
    await page.getByRole("button", { name: "Sign out" }).click();
    await signedOut(page);
    await signedOut(other);
    expect(await context.cookies(api)).toEqual([]);
    await signIn(other, "Sign in");
    await signedIn(page);
  });

  it("gets nothing from an origin that is not allowed, and no session", async () => {
    const { server, api, app } = await start();
    const { context, page } = await open(await servePages(api));
    expect(new URL(page.url()).origin).not.toBe(app);
    await signIn(page, "Register");
    await page.getByText("does not allow this page's origin").waitFor();
    await signedOut(page);
    expect(await context.cookies(api)).toEqual([]);
    const [users] = await server.database.query([{ sql: "SELECT count(*) FROM _users", params: [] }]);
    expect(Number(users!.rows[0]![0])).toBe(0);
  });

  it("cannot act from a foreign page with the cookies of somebody who is signed in", async () => {
    const { server, api, app } = await start();
    const { context, page } = await open(app);
    await signIn(page, "Register");
    await add(page, "mine");
    const foreign = await context.newPage();
    await foreign.goto(await servePages(api));
    const status = await foreign.evaluate(async (url) => {
      const answer = await fetch(`${url}/auth/logout`, {
        method: "POST",
        credentials: "include",
        mode: "no-cors",
      });
      return answer.type;
    }, api);
    expect(status).toBe("opaque");
    await page.reload();
    await page.getByRole("listitem").filter({ hasText: "mine" }).waitFor();
    const [sessions] = await server.database.query([
      { sql: "SELECT count(*) FROM _sessions WHERE revoked_at IS NULL", params: [] },
    ]);
    expect(Number(sessions!.rows[0]![0])).toBe(1);
  });

  it("signs in with a provider, from the click to the session", async () => {
    const { api, app } = await start();
    const { context, page } = await open(app);
    await page.getByRole("button", { name: "Continue with Google" }).click();
    await signedIn(page);
    expect(page.url()).toBe(`${app}/`);
    expect((await context.cookies(api)).map(({ name }) => name)).toEqual(["svc_access", "svc_refresh"]);
    await add(page, "by way of the provider");
  });
});
