import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Browser, hangs, resetInBody } from "../../support/browser.js";
import type { TestServer } from "../../support/server.js";
import { accessTokenMs, type BrowserOptions, browse, credentials, type Tables } from "./support.js";

interface Failure {
  readonly what: string;
  /** What docs/guides/client.md says that the user sees. */
  readonly sees: string;
  readonly happen: (browser: Browser, server: TestServer) => Promise<void>;
  readonly options?: BrowserOptions;
}

const refresh = "POST /auth/refresh";
const unavailable = () => Response.json({ error: { code: "auth_unavailable", message: "not now" } }, { status: 503 });

/** Signed in, with an access token that has ended. */
async function expired(browser: Browser) {
  const client = browser.tab<Tables>();
  await client.auth.register(credentials);
  browser.time.pass(accessTokenMs);
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
    what: "A refresh gets no response",
    sees: "nothing: the client repeats it within the grace window and gets the same successor token",
    happen: async (browser) => {
      const client = await expired(browser);
      let first = true;
      browser.network = async (answer, request, signal) => {
        if (request !== refresh || !first) return answer();
        first = false;
        await answer();
        return hangs(signal);
      };
      expect(await client.table("notes").list()).toEqual([]);
      expect(browser.requestsTo("/auth/refresh")).toBe(2);
    },
  },
  {
    what: "The connection fails for some seconds, after the server has rotated the token",
    sees: "nothing: the client spreads its attempts over the grace window, the last one near its end",
    happen: async (browser) => {
      const client = await expired(browser);
      const from = browser.time.nowMs;
      browser.network = async (answer, request) => {
        const response = await answer();
        if (request !== refresh || browser.time.nowMs - from >= 7_000) return response;
        throw new TypeError("fetch failed");
      };
      expect(await client.table("notes").list()).toEqual([]);
      expect(browser.time.nowMs - from).toBeLessThan(10_000);
    },
  },
  {
    what: "A proxy rejects one attempt while an earlier, slow one succeeds",
    sees: "nothing: a success counts, whichever attempt it belongs to",
    happen: async (browser) => {
      const client = await expired(browser);
      let attempts = 0;
      browser.network = async (answer, request) => {
        if (request !== refresh) return answer();
        if (++attempts > 1) return new Response("<h1>Too many</h1>", { status: 429 });
        const response = await answer();
        await new Promise<void>((resolve) => browser.time.after(6_000, resolve));
        return response;
      };
      expect(await client.table("notes").list()).toEqual([]);
      expect(attempts).toBe(2);
    },
  },
  {
    what: "No refresh gets a response",
    sees: "an error (`timeout`) after 15 s; the user stays signed in, and the next call tries again",
    happen: async (browser) => {
      const client = await expired(browser);
      browser.network = (answer, request, signal) => (request === refresh ? hangs(signal) : answer());
      const from = browser.time.nowMs;
      await expect(client.auth.refresh()).rejects.toMatchObject({ status: 0, code: "timeout" });
      expect(browser.time.nowMs - from).toBe(15_000);
      await expectSignedIn(browser, client);
    },
  },
  {
    what: "A single 503",
    sees: "nothing: the client repeats refreshes, reads and writes after a pause with jitter",
    happen: async (browser) => {
      const client = await expired(browser);
      const failed = new Set<string>();
      browser.network = async (answer, request) => {
        if (failed.has(request)) return answer();
        failed.add(request);
        return unavailable();
      };
      const notes = client.table("notes");
      expect(await notes.list()).toEqual([]);
      expect(browser.requestsTo("/auth/refresh")).toBe(2);
      expect(browser.requestsTo("/api/notes")).toBe(2);
      expect(await notes.create({ body: "a" })).toMatchObject({ body: "a" });
      expect(browser.requestsTo("/api/notes")).toBe(4);
    },
  },
  {
    what: "Repeated 503s",
    sees: "an error (`auth_unavailable`) after five attempts; the user stays signed in",
    happen: async (browser) => {
      const client = await expired(browser);
      browser.network = async (answer, request) => (request === refresh ? unavailable() : answer());
      const listed = client.table("notes").list();
      await expect(listed).rejects.toMatchObject({ status: 503, code: "auth_unavailable" });
      expect(browser.requestsTo("/auth/refresh")).toBe(5);
      await expectSignedIn(browser, client);
    },
  },
  {
    what: "The response to a refresh is cut off",
    sees: "nothing: the client repeats the refresh and gets the same successor token",
    happen: async (browser) => {
      const client = await expired(browser);
      loseAnswers(browser, refresh, 1, resetInBody);
      expect(await client.table("notes").list()).toEqual([]);
      expect(browser.requestsTo("/auth/refresh")).toBe(2);
    },
  },
  {
    what: "The response to a read is cut off",
    sees: "nothing: the client repeats the read",
    happen: async (browser) => {
      const client = await expired(browser);
      loseAnswers(browser, "GET /api/notes", 2, resetInBody);
      expect(await client.table("notes").list()).toEqual([]);
      expect(browser.requestsTo("/api/notes")).toBe(3);
    },
  },
  {
    what: "The response to a write is cut off",
    sees: "nothing: the client repeats the write with the same key, so that the server does it once",
    happen: async (browser) => {
      const client = await expired(browser);
      const notes = client.table("notes");
      loseAnswers(browser, "POST /api/notes", 2, resetInBody);
      const created = await notes.create({ body: "once" });
      expect(await notes.list()).toEqual([created]);
      expect(browser.requestsTo("/api/notes")).toBe(4);
      loseAnswers(browser, "PATCH /api/notes/1", 2, unavailable);
      expect(await notes.update(1, { stars: 3 })).toMatchObject({ stars: 3 });
      loseAnswers(browser, "DELETE /api/notes/1", 2, resetInBody);
      expect(await notes.delete(1)).toEqual({ id: 1 });
      expect(await notes.list()).toEqual([]);
    },
  },
  {
    what: "The response to a write is cut off every time",
    sees: "an error (`network_error`) after three attempts; the write was done once or not at all",
    happen: async (browser) => {
      const client = await expired(browser);
      loseAnswers(browser, "POST /api/notes", 3, resetInBody);
      const created = client.table("notes").create({ body: "once" });
      await expect(created).rejects.toMatchObject({ status: 0, code: "network_error" });
      expect(browser.requestsTo("/api/notes")).toBe(3);
      expect(await client.table("notes").list()).toHaveLength(1);
    },
  },
  {
    what: "The response to a write is cut off, and nobody is signed in",
    sees: "an error (`network_error`); it is unknown whether the write was done, so the client does not repeat it",
    happen: async (browser) => {
      const guests = browser.tab<Tables>().table("guests");
      loseAnswers(browser, "POST /api/guests", 1, resetInBody);
      const created = guests.create({ name: "once" });
      await expect(created).rejects.toMatchObject({ status: 0, code: "network_error" });
      expect(await guests.list()).toHaveLength(1);
    },
  },
  {
    what: "Another user signs in, in another tab, before a write is repeated",
    sees: "an error (`unauthorized`); the write is not sent as the other user, and was done once or not at all",
    happen: async (browser) => {
      const client = browser.tab<Tables>();
      const other = browser.tab<Tables>();
      await client.auth.register(credentials);
      browser.network = async (answer, request) => {
        if (request !== "POST /api/notes") return answer();
        browser.network = (pass) => pass();
        await other.auth.register({ ...credentials, email: "bob@example.com" });
        throw new TypeError("fetch failed");
      };
      await expect(client.table("notes").create({ body: "of ada" })).rejects.toMatchObject({ status: 401 });
      expect(await other.table("notes").list()).toEqual([]);
    },
  },
  {
    what: "The device's clock is five minutes ahead or behind, or jumps",
    sees: "nothing: the client counts lifetimes from the arrival of the tokens, and a 401 renews them regardless of the clock",
    happen: async (browser) => {
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
        browser.time.pass(accessTokenMs);
        expect(await client.table("notes").list()).toEqual([]);
        await expectSignedIn(browser, client);
      }
    },
  },
  {
    what: "The storage is full",
    sees: "nothing until the page is closed; then the user must sign in again",
    happen: async (browser) => {
      browser.isFull = true;
      const client = await expired(browser);
      expect(await client.table("notes").list()).toEqual([]);
      browser.time.pass(accessTokenMs);
      expect(await client.table("notes").list()).toEqual([]);
      await expectSignedIn(browser, client);
      expect(await browser.tab().auth.user()).toBeNull();
    },
  },
  {
    what: "Two tabs refresh at the same time",
    sees: "nothing: a Web Lock lets one of them refresh, and both use the result",
    happen: async (browser) => {
      const client = await expired(browser);
      const other = browser.tab<Tables>();
      const lists = [client, other, client, other].map((tab) => tab.table("notes").list());
      expect(await Promise.all(lists)).toEqual([[], [], [], []]);
      expect(browser.requestsTo("/auth/refresh")).toBe(1);
    },
  },
  {
    what: "Two tabs refresh at the same time, in a browser without Web Locks",
    sees: "nothing: a lease in the storage replaces the lock",
    options: { hasLocks: false },
    happen: async (browser) => {
      const client = await expired(browser);
      const other = browser.tab<Tables>();
      expect(await Promise.all([client, other].map((tab) => tab.table("notes").list()))).toEqual([[], []]);
      expect(browser.requestsTo("/auth/refresh")).toBe(1);
      await Promise.all([client, other].map((tab) => expectSignedIn(browser, tab)));
    },
  },
  {
    what: "A tab is closed during a refresh",
    sees: "nothing: its lease expires, and the token that it used gets the same successor",
    options: { hasLocks: false },
    happen: async (browser) => {
      const client = await expired(browser);
      const lost = browser.network;
      const closed = browser.tab<Tables>();
      browser.network = async (answer, request, signal) => {
        if (request !== refresh) return answer();
        await answer();
        return hangs(signal);
      };
      void closed.auth.refresh().catch(() => {});
      await new Promise<void>((resolve) => browser.time.after(100, resolve));
      browser.network = lost;
      browser.stored.set("svc.lock http://127.0.0.1:8787", `${browser.time.nowMs + 4_000} closed`);
      const from = browser.time.nowMs;
      expect(await client.table("notes").list()).toEqual([]);
      expect(browser.time.nowMs - from).toBeGreaterThanOrEqual(4_000);
      await expectSignedIn(browser, client);
    },
  },
  {
    what: "A proxy responds with 401 or with its own page",
    sees: "an error; the user stays signed in, because only the server's `invalid_refresh_token` ends the session",
    happen: async (browser) => {
      const client = await expired(browser);
      browser.network = async () => new Response("<h1>Sign in to the hotel's network</h1>", { status: 401 });
      await expect(client.auth.refresh()).rejects.toMatchObject({ status: 401, code: "unexpected_answer" });
      const gateway = { error: { code: "Unauthorized", message: "of a gateway" } };
      browser.network = async () => Response.json(gateway, { status: 401 });
      await expect(client.auth.refresh()).rejects.toMatchObject({ status: 401, code: "Unauthorized" });
      browser.network = async () => new Response("<h1>Welcome</h1>");
      await expect(client.auth.refresh()).rejects.toMatchObject({ status: 200, code: "unexpected_answer" });
      await expectSignedIn(browser, client);
    },
  },
  {
    what: "The browser has deleted its cookies or its storage",
    sees: "the sign-in form, because nothing is left to renew the session with; signing out succeeds",
    happen: async (browser) => {
      const client = await expired(browser);
      browser.cookies.clear();
      browser.stored.clear();
      const fresh = browser.tab<Tables>();
      expect(await fresh.auth.user()).toBeNull();
      await expect(fresh.table("notes").list()).rejects.toMatchObject({ status: 401 });
      await client.auth.logout();
      expect(await client.auth.user()).toBeNull();
      await client.auth.login(credentials);
      await expectSignedIn(browser, client);
    },
  },
  {
    what: "Another user signs in, in another tab, during a call",
    sees: "an error (`unauthorized`); a call is never carried out as a user other than the one who started it",
    happen: async (browser) => {
      const client = browser.tab<Tables>();
      const other = browser.tab<Tables>();
      await client.auth.register(credentials);
      let isFirst = true;
      browser.network = async (answer, request) => {
        if (request !== "POST /api/notes" || !isFirst) return answer();
        isFirst = false;
        await other.auth.logout();
        const refused = await answer();
        await other.auth.register({ ...credentials, email: "bob@example.com" });
        return refused;
      };
      const created = client.table("notes").create({ body: "of ada" });
      await expect(created).rejects.toMatchObject({ status: 401, code: "unauthorized" });
      expect(await other.table("notes").list()).toEqual([]);
      expect(await client.auth.user()).toMatchObject({ email: "bob@example.com" });
    },
  },
  {
    what: "Another user signs in, in another tab, during a refresh",
    sees: "nothing: the sign-in waits for the refresh, and then replaces the session",
    happen: async (browser) => {
      const client = await expired(browser);
      const other = browser.tab<Tables>();
      let isFirst = true;
      let signedIn: Promise<unknown> | undefined;
      browser.network = async (answer, request) => {
        if (request !== refresh || !isFirst) return answer();
        isFirst = false;
        signedIn = other.auth.register({ ...credentials, email: "bob@example.com" });
        await new Promise<void>((resolve) => browser.time.after(2_000, resolve));
        return answer();
      };
      await client.auth.refresh();
      await signedIn;
      for (const tab of [client, other]) {
        expect(await tab.auth.user()).toMatchObject({ email: "bob@example.com" });
        expect(await tab.auth.me()).toMatchObject({ email: "bob@example.com" });
      }
    },
  },
  {
    what: "The user signs out while the server cannot be reached",
    sees: "an error (`network_error`); the user stays signed in, because the session would otherwise continue on the server",
    happen: async (browser) => {
      const client = await expired(browser);
      browser.network = async () => {
        throw new TypeError("fetch failed");
      };
      await expect(client.auth.logout()).rejects.toMatchObject({ code: "network_error" });
      await expectSignedIn(browser, client);
    },
  },
  {
    what: "The session was ended elsewhere",
    sees: "the sign-in form in every tab, once the server has refused a refresh with 401",
    happen: async (browser, server) => {
      const client = browser.tab<Tables>();
      const other = browser.tab<Tables>();
      const told: unknown[] = [];
      await client.auth.register(credentials);
      await other.auth.user();
      other.auth.onChange((user) => told.push(user));
      const elsewhere = new Browser(server, { session: "cookie" }).tab();
      await elsewhere.auth.login(credentials);
      await elsewhere.auth.changePassword({ current_password: credentials.password, password: "new horse" });
      await expect(client.table("notes").list()).rejects.toMatchObject({ status: 401 });
      expect(await client.auth.user()).toBeNull();
      expect(await other.auth.user()).toBeNull();
      await new Promise((resolve) => setImmediate(resolve));
      expect(told).toEqual([null]);
    },
  },
];

/** Now that the network is as it should be. */
async function expectSignedIn(browser: Browser, client: ReturnType<typeof browser.tab<Tables>>): Promise<void> {
  browser.network = (pass) => pass();
  expect(await client.auth.user()).toMatchObject({ email: credentials.email });
  expect(await client.auth.me()).toMatchObject({ email: credentials.email });
}

describe.each(["bearer", "cookie"] as const)("a client with a %s session", (session) => {
  it.each(failures)("$what", async ({ happen, options }) => {
    const { server, browser } = await browse({ session, ...options });
    await happen(browser, server);
  });
});

it("is in the guide's table, and nothing else is", () => {
  const guide = readFileSync("docs/guides/client.md", "utf8");
  const [, table] = guide.split("| What happens | What the user sees |\n|---|---|\n");
  const rows = failures.map(({ what, sees }) => `| ${what} | ${sees} |`);
  expect(table!.split("\n\n")[0]!.split("\n")).toEqual(rows);
});

describe("a page on another site than the server", () => {
  const at = async (page: string, more: object) => {
    const { browser } = await browse({ page });
    const client = browser.tab<Tables>(undefined, more);
    for (let i = 0; i < 2; i++)
      await client
        .table("notes")
        .list()
        .catch(() => {});
    return browser.warnings;
  };
  const cookies = { session: "cookie" } as const;

  it("is warned of once in cookie mode, with what to do", async () => {
    expect(await at("http://localhost:5173/app", cookies)).toEqual([
      "svc: this page (http://localhost:5173) and the server (http://127.0.0.1:8787) are two sites, so the browser sends no cookies to the server, which answers 401: open both at localhost",
    ]);
    const [warning] = await at("https://app.example.com/", { ...cookies, url: "https://api.example.org" });
    expect(warning).toContain("serve both under one domain");
    expect(await at("http://app.example.com/", { ...cookies, url: "https://api.example.com" })).toHaveLength(1);
  });

  it.each([
    ["http://127.0.0.1:5173/", "http://127.0.0.1:8787"],
    ["http://localhost:5173/", "http://localhost:8787"],
    ["https://app.example.com/", "https://api.example.com"],
    ["https://example.com/", "https://api.example.com/svc"],
  ])("but %s and %s are of one", async (page, url) => {
    expect(await at(page, { ...cookies, url })).toEqual([]);
  });

  it("is not warned of with bearer tokens", async () => {
    expect(await at("http://localhost:5173/", {})).toEqual([]);
  });
});
