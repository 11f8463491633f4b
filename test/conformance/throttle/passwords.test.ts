import { describe, expect, it } from "vitest";
import { HasherBusyError } from "../../../src/platform/platform.js";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { run } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";
import { lastToken } from "../links/support.js";

const schema = "notes: { columns: { id: { type: integer, primary_key: true } } }";
const right = { email: "ada@example.com", password: "correct horse" };
const wrong = { ...right, password: "wrong horse" };

const hour = 3_600_000;
const limits = (text: string) => `[auth.throttle]\n${text}`;

function from(server: TestServer, address: string) {
  return client(server, { "Test-Client-Address": address });
}

async function withAda(config = ""): Promise<TestServer> {
  const server = await serve({ schema, config });
  expect((await from(server, "198.51.100.1").post("/auth/register", right)).status).toBe(201);
  return server;
}

async function fail(server: TestServer, address: string, times: number, body = wrong): Promise<void> {
  for (let i = 0; i < times; i++)
    expectRefusal(await from(server, address).post("/auth/login", body), 401, "invalid_credentials");
}

describe("failed passwords", () => {
  it("are ten from one address; the eleventh is 429 with Retry-After, while the owner elsewhere gets in", async () => {
    const server = await withAda();
    await fail(server, "203.0.113.1", 10);
    const refused = await from(server, "203.0.113.1").post("/auth/login", right);
    expectRefusal(refused, 429, "rate_limited");
    expect(refused.headers.get("Retry-After")).toBe("300");
    expect((await from(server, "198.51.100.1").post("/auth/login", right)).status).toBe(200);
    server.clock.advance(299_000);
    expect((await from(server, "203.0.113.1").post("/auth/login", right)).headers.get("Retry-After")).toBe("1");
    server.clock.advance(1_000);
    expect((await from(server, "203.0.113.1").post("/auth/login", right)).status).toBe(200);
  });

  it("are none where the password is right and the storage fails behind it", async () => {
    const storage = switchboard();
    const server = await serve({ schema, config: limits("max_failures = 2"), wrap: storage.wrap });
    const ada = from(server, "203.0.113.1");
    const { access_token: token } = dataOf<{ access_token: string }>(await ada.post("/auth/register", right));
    const signedIn = client(server, {
      "Test-Client-Address": "203.0.113.1",
      Authorization: `Bearer ${token}`,
    });
    const change = { current_password: right.password, password: "another horse" };
    for (let i = 0; i < 3; i++) {
      storage.failing = (statements) => statements.some(({ sql }) => sql.startsWith("INSERT INTO _sessions"));
      expectRefusal(await ada.post("/auth/login", right), 503, "auth_unavailable");
      storage.failing = (statements) => statements.some(({ sql }) => sql.startsWith("UPDATE _users"));
      expectRefusal(await signedIn.post("/auth/password", change), 503, "auth_unavailable");
    }
    storage.failing = null;
    await fail(server, "203.0.113.1", 1);
    expect((await ada.post("/auth/login", right)).status).toBe(200);
  });

  it("count for an address that does not exist as well", async () => {
    const server = await withAda(limits("max_failures = 2"));
    const nobody = { email: "nobody@example.com", password: "whatever" };
    await fail(server, "203.0.113.1", 2, nobody);
    expectRefusal(await from(server, "203.0.113.1").post("/auth/login", nobody), 429, "rate_limited");
  });

  it("count per address over many accounts", async () => {
    const server = await withAda(limits("max_failures_per_address = 3"));
    for (let i = 0; i < 3; i++)
      await fail(server, "203.0.113.1", 1, { email: `user${i}@example.com`, password: "whatever" });
    expectRefusal(await from(server, "203.0.113.1").post("/auth/login", wrong), 429, "rate_limited");
  });

  it("count per account over many addresses, without locking out where it has signed in before", async () => {
    const server = await withAda(limits("max_failures_per_account = 3"));
    expect((await from(server, "198.51.100.1").post("/auth/login", right)).status).toBe(200);
    for (let i = 1; i <= 3; i++) await fail(server, `203.0.113.${i}`, 1);
    expectRefusal(await from(server, "203.0.113.9").post("/auth/login", right), 429, "rate_limited");
    expect((await from(server, "198.51.100.1").post("/auth/login", right)).status).toBe(200);
  });

  it("of an account let a stranger try ever more rarely, until a day has passed", async () => {
    const server = await withAda(limits("max_failures_per_account = 3"));
    expect((await from(server, "198.51.100.1").post("/auth/login", right)).status).toBe(200);
    let strangers = 0;
    const fromSomewhere = () => from(server, `203.0.113.${++strangers}`).post("/auth/login", wrong);
    const letThrough = async () => {
      const answer = await fromSomewhere();
      expect([401, 429]).toContain(answer.status);
      return answer.status === 401;
    };
    for (let i = 0; i < 3; i++) expect(await letThrough()).toBe(true);
    const minutes: number[] = [];
    for (let minute = 5; minute < 24 * 60; minute += 5) {
      server.clock.advance(300_000);
      while (strangers < 250 && (await letThrough())) minutes.push(minute);
      expect((await from(server, "198.51.100.1").post("/auth/login", right)).status).toBe(200);
      strangers %= 250;
    }
    expect(minutes).toEqual([5, 15, 35, 75, 155, 315, 635, 1275]);
    expect((await fromSomewhere()).headers.get("Retry-After")).toBe("300");
    server.clock.advance(300_000);
    expect(await letThrough()).toBe(true);
  });

  it("of strangers do not keep out whoever has used a link of a mail, from wherever", async () => {
    const server = await withAda(limits("max_failures_per_account = 3"));
    for (let i = 1; i <= 3; i++) await fail(server, `203.0.113.${i}`, 1);
    const away = from(server, "192.0.2.7");
    expectRefusal(await away.post("/auth/login", right), 429, "rate_limited");
    await away.post("/auth/password-reset/request", { email: right.email });
    const token = await lastToken(server, right.email);
    const password = "another horse";
    expect((await away.post("/auth/password-reset/confirm", { token, password })).status).toBe(200);
    expect((await away.post("/auth/login", { ...right, password })).status).toBe(200);
    const stranger = from(server, "203.0.113.9");
    expectRefusal(await stranger.post("/auth/login", { ...right, password }), 429, "rate_limited");
  });

  it("are one address within an IPv6 /64", async () => {
    const server = await withAda(limits("max_failures = 2"));
    await fail(server, "2001:db8:0:1::1", 1);
    await fail(server, "2001:db8:0:1:ffff::2", 1);
    expectRefusal(await from(server, "2001:db8:0:1::3").post("/auth/login", right), 429, "rate_limited");
    expect((await from(server, "2001:db8:0:2::1").post("/auth/login", right)).status).toBe(200);
  });

  it("do not pass together: twenty at once are ten checks", async () => {
    const server = await withAda();
    const attempts = Array.from({ length: 20 }, () => from(server, "203.0.113.1").post("/auth/login", wrong));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(10).fill(429)]);
  });

  it("are not what a right password is", async () => {
    const server = await withAda(limits("max_failures = 2"));
    for (let i = 0; i < 4; i++) expect((await from(server, "203.0.113.1").post("/auth/login", right)).status).toBe(200);
  });

  it("of a clock that was set back do not lock for an hour", async () => {
    const server = await withAda(limits("max_failures = 1"));
    await fail(server, "203.0.113.1", 1);
    server.clock.advance(-3_600_000);
    expect((await from(server, "203.0.113.1").post("/auth/login", right)).status).toBe(200);
  });

  it("leave neither people nor addresses in the table", async () => {
    const server = await withAda();
    await fail(server, "203.0.113.1", 1);
    const { rows } = await run(server, "SELECT key FROM _throttle");
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toMatch(/ada|203\.0/);
  });

  it("are not counted where the throttle is off", async () => {
    const server = await withAda(limits("enabled = false\nmax_failures = 1"));
    await fail(server, "203.0.113.1", 3);
  });
});

describe("the table of counts", () => {
  /** Without that of the registration. */
  const withAdaAlone = async (config = "") => {
    const server = await withAda(config);
    await run(server, "DELETE FROM _throttle");
    return server;
  };
  const countedIn = async (server: TestServer) =>
    (await run(server, "SELECT count FROM _throttle ORDER BY count")).rows.map(([count]) => count);

  it("holds nothing of an attempt that was refused", async () => {
    const server = await withAdaAlone(limits("max_failures_per_address = 2"));
    await fail(server, "203.0.113.1", 2);
    expect(await countedIn(server)).toEqual([2, 2, 2]);
    for (let i = 0; i < 3; i++) {
      const body = { email: `user${i}@example.com`, password: "whatever" };
      expectRefusal(await from(server, "203.0.113.1").post("/auth/login", body), 429, "rate_limited");
    }
    expect(await countedIn(server)).toEqual([2, 2, 2]);
  });

  it("holds nothing of an attempt that was right", async () => {
    const server = await withAdaAlone();
    expect((await from(server, "203.0.113.1").post("/auth/login", right)).status).toBe(200);
    expect(await countedIn(server)).toEqual([]);
  });

  it("holds a single failure for a part of a day, and the account's many for the day", async () => {
    const server = await withAdaAlone(limits("max_failures_per_account = 24"));
    await fail(server, "203.0.113.1", 1, { email: "nobody@example.com", password: "whatever" });
    for (let i = 0; i < 24; i++) await fail(server, `203.0.113.${i}`, 1);
    server.clock.advance(hour);
    await server.upkeep.purge();
    expect(await countedIn(server)).toEqual([24]);
    server.clock.advance(23 * hour - 1);
    await server.upkeep.purge();
    expect(await countedIn(server)).toEqual([24]);
    server.clock.advance(1);
    await server.upkeep.purge();
    expect(await countedIn(server)).toEqual([]);
  });

  it("is emptied within a minute of as many counters as there are whose window has ended", async () => {
    const server = await withAdaAlone();
    const insert = `INSERT INTO _throttle (key, started_at, ends_at, count)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
      SELECT i, ${server.clock.now()}, ${server.clock.now() + hour}, 1 FROM n`;
    await run(server, insert);
    await server.upkeep.purge();
    expect((await countedIn(server)).length).toBe(60_000);
    server.clock.advance(hour);
    await server.upkeep.purge();
    expect(await countedIn(server)).toEqual([]);
  });
});

describe("a stranger", () => {
  it("who is refused already cannot use up what the owner's account has elsewhere", async () => {
    const server = await withAda(limits("max_failures = 2\nmax_failures_per_account = 4"));
    await fail(server, "203.0.113.1", 2);
    for (let i = 0; i < 10; i++)
      expectRefusal(await from(server, "203.0.113.1").post("/auth/login", wrong), 429, "rate_limited");
    expect((await from(server, "198.51.100.7").post("/auth/login", right)).status).toBe(200);
  });

  it("who keeps the hasher busy locks nobody out", async () => {
    const server = await withAda(limits("max_failures = 2"));
    const { passwordHasher } = server.platform;
    const { verify } = passwordHasher;
    passwordHasher.verify = async () => {
      throw new HasherBusyError("busy");
    };
    for (let i = 0; i < 5; i++)
      expectRefusal(await from(server, "203.0.113.1").post("/auth/login", right), 503, "auth_unavailable");
    passwordHasher.verify = verify;
    expect((await from(server, "203.0.113.1").post("/auth/login", right)).status).toBe(200);
  });

  it("are told to come back in a second while all that stands in their way are checks under way", async () => {
    const server = await withAda(limits("max_failures = 2"));
    const { passwordHasher } = server.platform;
    const { verify } = passwordHasher;
    const logIn = (body: object) => from(server, "203.0.113.1").post("/auth/login", body);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const begun = new Promise<void>((resolve) => {
      let checks = 0;
      passwordHasher.verify = async (...check) => {
        if (++checks === 2) resolve();
        await released;
        return verify(...check);
      };
    });
    const underWay = [logIn(right), logIn(right)];
    await begun;
    const refused = await logIn(right);
    expectRefusal(refused, 429, "rate_limited");
    expect(refused.headers.get("Retry-After")).toBe("1");
    release();
    expect((await Promise.all(underWay)).map(({ status }) => status)).toEqual([200, 200]);
    await fail(server, "203.0.113.1", 2);
    expect((await logIn(right)).headers.get("Retry-After")).toBe("300");
  });
});
