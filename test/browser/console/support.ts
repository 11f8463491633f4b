import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, expect, onTestFinished } from "vitest";
import { createUser } from "../../../src/auth/accounts/administration.js";
import { bundleConsole } from "../../../src/console/bundle.js";
import { isRefusal } from "../../../src/http/refusal.js";
import { freePort } from "../../support/free-port.js";
import { serve, type TestServer } from "../../support/server.js";
import type { Open } from "../chromium.js";

export const password = "correct horse battery";
export const root = "root@example.com";

let page: Promise<string> | undefined;

/** The page, built once for a file of tests. */
function builtPage(): Promise<string> {
  page ??= (async () => {
    const directory = mkdtempSync(join(tmpdir(), "svc-console-"));
    await bundleConsole("src/console", directory);
    return directory;
  })();
  return page;
}
afterAll(async () => page && rmSync(await page, { recursive: true }));

export interface Served {
  readonly server: TestServer;
  readonly url: string;
  /** Makes a user, and returns their id. */
  user(email: string, role?: "user" | "admin"): Promise<string>;
  sql(text: string, ...params: readonly (string | number | null)[]): Promise<void>;
}

/** A server with the console's page, and an administrator. */
export async function serveConsole(schema: string, config = ""): Promise<Served> {
  const url = `https://localhost:${await freePort("localhost")}`;
  const consoleDirectory = await builtPage();
  const settings = `[auth]\npublic_base_url = "${url}"\n${config}`;
  const server = await serve({ schema, config: settings, consoleDirectory, isMeasured: true }, "tls");
  const user: Served["user"] = async (email, role = "user") => {
    const made = await createUser(server.platform, {
      email,
      role,
      password,
      passwordLengthMin: 6,
      createdBy: "cli",
    });
    if (isRefusal(made)) throw new Error(made.message);
    return made.id;
  };
  await user(root, "admin");
  const sql: Served["sql"] = async (text, ...params) => {
    await server.database.batch([{ sql: text, params: [...params] }]);
  };
  return { server, url, user, sql };
}

/**
 * A page of the console. The test fails where its policy was violated, where a script of it failed, and where anything was
 * asked of another origin.
 */
export async function openConsole(
  open: Open,
  { url, server }: Pick<Served, "url"> & { readonly server?: TestServer },
  fragment = "",
): Promise<{ readonly context: BrowserContext; readonly page: Page }> {
  const { context, page } = await open("about:blank");
  const wrong: string[] = [];
  context.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== new URL(url).origin && !/^(data|blob|about):/.test(protocol)) wrong.push(`asked of ${origin}`);
  });
  page.on("pageerror", (error) => wrong.push(`a script failed: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) wrong.push(message.text());
  });
  onTestFinished(() => expect(wrong).toEqual([]));
  if (server) await page.clock.setFixedTime(server.clock.now());
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${url}/console${fragment}`);
  return { context, page };
}

/** Signs in where the page asks for it. */
export async function signIn(page: Page, email = root): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator(".shell").waitFor();
}

/** A page of the console of somebody who is signed in. */
export async function openSignedIn(open: Open, served: Served, fragment = "") {
  const opened = await openConsole(open, served, fragment);
  await signIn(opened.page);
  return opened;
}

/** Goes to a screen, and waits until nothing is loaded any more. */
export async function goTo(page: Page, fragment: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
  await settled(page);
}

/** Waits until the page has drawn what there is to draw, and shows no sign that something is loaded. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  await page.locator(".bone, [aria-busy=true]").first().waitFor({ state: "hidden" });
}

/** A cell of the grid, both from 0. */
export const cell = (page: Page, row: number, column: number) =>
  page.locator(`[data-row="${row}"] [data-column="${column}"]`);

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

/** What axe finds on the page that is serious or critical. */
export async function seriousFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  const found = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as {
    readonly violations: readonly {
      readonly id: string;
      readonly impact: string;
      readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
    }[];
  };
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => `${id}: ${node.html}\n${node.failureSummary}`));
}
