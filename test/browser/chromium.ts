import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { certificate } from "../support/certificate.js";
import { patiently } from "../support/patience.js";
import { pages } from "./pages.js";

const executable = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
  (path) => path !== undefined && existsSync(path),
);
const missing = "no browser is installed: Debian's package chromium is one, or CHROMIUM names another";
if (executable === undefined && process.env.CI) throw new Error(missing);
if (executable === undefined) console.warn(`The browser's tests are left out: ${missing}.`);

/** Opens a page of an origin in a browser of its own: no cookies, no storage. It is closed when the test ends. */
export type Open = (origin: string) => Promise<{ readonly context: BrowserContext; readonly page: Page }>;

/** Tests in Chromium, which are left out where none is installed. `more`: further arguments of the browser. */
export function describeInChromium(name: string, tests: (open: Open) => void, more: readonly string[] = []): void {
  describe.skipIf(executable === undefined)(name, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({
        executablePath: executable!,
        timeout: patiently.timeout,
        args: [
          "--no-sandbox",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
          ...more,
        ],
      });
    });
    afterAll(() => browser?.close());
    tests(async (origin) => {
      const context = await browser.newContext({ ignoreHTTPSErrors: true });
      context.setDefaultTimeout(patiently.timeout);
      onTestFinished(() => context.close());
      const page = await context.newPage();
      await page.goto(origin);
      return { context, page };
    });
  });
}

/** The pages of an application in this folder on an origin of their own, until the test ends. */
export async function servePages(api: string, app?: "app" | "rooms"): Promise<string> {
  const server = createHttps(await certificate(), pages(api, app)).listen(0, "localhost");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

/** What a browser is asked of the server. */
export function requestsOf(context: BrowserContext, path: string): { count: number } {
  const seen = { count: 0 };
  context.on("request", (request) => {
    if (request.method() !== "OPTIONS" && new URL(request.url()).pathname === path) seen.count++;
  });
  return seen;
}
