import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Browser, hangs, resetInBody } from "../../support/browser.js";
import type { TestServer } from "../../support/server.js";
import { accessTokenMs, type BrowserOptions, browse, credentials, pass, type Tables } from "./support.js";

interface Failure {
  readonly what: string;
  /** The README's words. */
  readonly sees: string;
  readonly happen: (server: TestServer, browser: Browser) => Promise<void>;
  readonly options?: BrowserOptions;
}

const refresh = "POST /auth/refresh";
const unavailable = () =>
  Response.json({ error: { code: "auth_unavailable", message: "not now" } }, { status: 503 });

/** Signed in, with an access token that has ended. */
async function expired(server: TestServer, browser: Browser) {
  const client = browser.tab<Tables>();
  await client.auth.register(credentials);
  pass(server, browser, accessTokenMs);
  return client;
}

/** The first `times` answers to a request are lost after the server has given them. */
function loseAnswers(browser: Browser, which: string, times: number, as: (answer: Response) => Response) {
  let left = times;
  browser.network = async (pass, request) => {
    const answer = await pass();
    return request === which && left-- > 0 ? as(answer) : answer;
  };
}

const failures: readonly Failure[] = [
  {
    what: "A refresh gets no answer",
    sees: "nothing: it is sent again after 3 s, inside the grace window, and gets the same successor",
    happen: async (server, browser) => {
      const client = await expired(server, browser);
      let first = true;
      browser.network = async (answer, request, signal) => {
        if (request !== refresh || !first) return answer();
        first = false;
        await answer();
        setImmediate(() => pass(server, browser, 3_000));
        return hangs(signal);
      };
      expect(await client.table("notes").list()).toEqual([]);
      expect(browser.requestsTo("/auth/refresh")).toBe(2);
    },
  },
  {
    what: "No refresh gets an answer",
    sees: "an error (`timeout`), and is still signed in: the next call tries again",
    happen: async (server, browser) => {
      const client = await expired(server, browser);
      browser.network = (answer, request, signal) => {
        if (request !== refresh) return answer();
        setImmediate(() => browser.time.pass(30_000));
        return hangs(signal);
      };
      await expect(client.auth.refresh()).rejects.toMatchObject({ status: 0, code: "timeout" });
      await expectSignedIn(browser, client);
    },
  },
  {
    what: "503 once",
    sees: "nothing: refreshes and reads are sent again, after a pause with jitter",
    happen: async (server, browser) => {
      const client = await expired(server, browser);
      const failed = new Set<string>();
      browser.network = async (answer, request) => {
        if (failed.has(request)) return answer();
        failed.add(request);
        return unavailable();
      };
      expect(await client.table("notes").list()).toEqual([]);
      expect(browser.requestsTo("/auth/refresh")).toBe(2);
      expect(browser.requestsTo("/api/notes")).toBe(2);
    },
  },
  {
    what: "503 for longer",
    sees: "an error (`auth_unavailable`) after three attempts, and is still signed in",
    happen: async (server, browser) => {
      const client = await expired(server, browser);
      browser.network = async () => unavailable();
      await expect(client.auth.refresh()).rejects.toMatchObject({ status: 503, code: "auth_unavailable" });
      expect(browser.requestsTo("/auth/refresh")).toBe(3);
      await expectSignedIn(browser, client);
    },
  },
  {
    what: "A refresh's answer is cut off in its body",
    sees: "nothing: it is sent again, and gets the same successor",
    happen: async (server, browser) => {
      const client = await expired(server, browser);
      loseAnswers(browser, refresh, 1, resetInBody);
      expect(await client.table("notes").list()).toEqual([]);
      expect(browser.requestsTo("/auth/refresh")).toBe(2);
    },
  },
  {
    what: "A read's answer is cut off in its body",
    sees: "nothing: it is sent again",
    happen: async (server, browser) => {
      const client = await expired(server, browser);
      loseAnswers(browser, "GET /api/notes", 2, resetInBody);
      expect(await client.table("notes").list()).toEqual([]);
      expect(browser.requestsTo("/api/notes")).toBe(3);
    },
  },
  {
    what: "A write's answer is cut off in its body",
    sees: "an error (`network_error`): nobody knows whether it was done, so it is not sent again",
    happen: async (server, browser) => {
      const client = await expired(server, browser);
      loseAnswers(browser, "POST /api/notes", 1, resetInBody);
      const created = client.table("notes").create({ body: "once" });
      await expect(created).rejects.toMatchObject({ status: 0, code: "network_error" });
      expect(await client.table("notes").list()).toHaveLength(1);
    },
  },
  {
    what: "The device's clock is five minutes ahead, or behind, or jumps",
    sees: "nothing: lifetimes are counted from when tokens came, and a 401 renews them whatever the clock says",
    happen: async (server, browser) => {
      for (const [before, after] of [
        [300_000, 300_000],
        [-300_000, -300_000],
        [0, -1_200_000],
        [0, 1_200_000],
      ] as const) {
        let skewMs: number = before;
        const client = browser.tab<Tables>(() => skewMs);
        await client.auth.login(credentials).catch(() => client.auth.register(credentials));
        skewMs = after;
        expect(await client.table("notes").list()).toEqual([]);
        pass(server, browser, accessTokenMs);
        expect(await client.table("notes").list()).toEqual([]);
        await expectSignedIn(browser, client);
      }
    },
  },
  {
    what: "The storage is full",
    sees: "nothing until the page is closed, which then signs in anew",
    happen: async (server, browser) => {
      browser.isFull = true;
      const client = await expired(server, browser);
      expect(await client.table("notes").list()).toEqual([]);
      pass(server, browser, accessTokenMs);
      expect(await client.table("notes").list()).toEqual([]);
      await expectSignedIn(browser, client);
      expect(await browser.tab().auth.user()).toBeNull();
    },
  },
  {
    what: "Two tabs refresh at once",
    sees: "nothing: one of them does, by a Web Lock, and both go on with it",
    happen: async (server, browser) => {
      const client = await expired(server, browser);
      const other = browser.tab<Tables>();
      const lists = [client, other, client, other].map((tab) => tab.table("notes").list());
      expect(await Promise.all(lists)).toEqual([[], [], [], []]);
      expect(browser.requestsTo("/auth/refresh")).toBe(1);
    },
  },
  {
    what: "Two tabs refresh at once, in a browser without Web Locks",
    sees: "nothing: a lease in the storage stands for the lock",
    options: { hasLocks: false },
    happen: async (server, browser) => {
      const client = await expired(server, browser);
      const other = browser.tab<Tables>();
      expect(await Promise.all([client, other].map((tab) => tab.table("notes").list()))).toEqual([[], []]);
      expect(browser.requestsTo("/auth/refresh")).toBe(1);
      await Promise.all([client, other].map((tab) => expectSignedIn(browser, tab)));
    },
  },
  {
    what: "A tab was closed in the middle of a refresh",
    sees: "nothing: its lease ends by itself, and the token that it used gets the same successor",
    options: { hasLocks: false },
    happen: async (server, browser) => {
      const client = await expired(server, browser);
      browser.stored.set("svc.refresh http://127.0.0.1:8787", `${browser.time.nowMs + 1_000} closed`);
      setImmediate(() => browser.time.pass(1_000));
      expect(await client.table("notes").list()).toEqual([]);
    },
  },
  {
    what: "Something in between answers 401, or a page of its own",
    sees: "an error (`unexpected_answer`), and is still signed in: the server has not said so",
    happen: async (server, browser) => {
      const client = await expired(server, browser);
      browser.network = async () => new Response("<h1>Sign in to the hotel's network</h1>", { status: 401 });
      await expect(client.auth.refresh()).rejects.toMatchObject({ status: 401, code: "unexpected_answer" });
      browser.network = async () => new Response("<h1>Welcome</h1>");
      await expect(client.auth.refresh()).rejects.toMatchObject({ status: 200, code: "unexpected_answer" });
      await expectSignedIn(browser, client);
    },
  },
  {
    what: "Signing out while the server cannot be reached",
    sees: "an error (`network_error`), and is still signed in: a token that nobody holds would live on",
    happen: async (server, browser) => {
      const client = await expired(server, browser);
      browser.network = async () => {
        throw new TypeError("fetch failed");
      };
      await expect(client.auth.logout()).rejects.toMatchObject({ code: "network_error" });
      await expectSignedIn(browser, client);
    },
  },
  {
    what: "The session was ended elsewhere",
    sees: "the sign-in form, in every tab, once a refresh was refused with the server's own 401",
    happen: async (server, browser) => {
      const client = browser.tab<Tables>();
      const other = browser.tab<Tables>();
      const told: unknown[] = [];
      await client.auth.register(credentials);
      await other.auth.user();
      other.auth.onChange((user) => told.push(user));
      const elsewhere = new (browser.constructor as typeof Browser)(server).tab();
      await elsewhere.auth.login(credentials);
      await elsewhere.auth.changePassword({ current_password: credentials.password, password: "new horse" });
      await expect(client.table("notes").list()).rejects.toMatchObject({ status: 401 });
      expect(await client.auth.user()).toBeNull();
      expect(await other.auth.user()).toBeNull();
      expect(told).toEqual([null]);
    },
  },
];

/** Now that the network is as it should be. */
async function expectSignedIn(
  browser: Browser,
  client: ReturnType<typeof browser.tab<Tables>>,
): Promise<void> {
  browser.network = (pass) => pass();
  expect(await client.auth.user()).toMatchObject({ email: credentials.email });
  expect(await client.auth.me()).toMatchObject({ email: credentials.email });
}

describe.each(["bearer", "cookie"] as const)("a client with a %s session", (session) => {
  it.each(failures)("$what", async ({ happen, options }) => {
    const { server, browser } = await browse({ session, ...options });
    await happen(server, browser);
  });
});

it("is in the README's table", () => {
  const lines = readFileSync("README.md", "utf8").split("\n");
  const rows = failures.map(({ what, sees }) => `| ${what} | ${sees} |`);
  expect(rows.filter((row) => !lines.includes(row))).toEqual([]);
});
