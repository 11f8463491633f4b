import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { countOf, member, run } from "../../support/people.js";
import { apiKey, serve, signUp } from "../../support/server.js";

const project = {
  schema: "notes: { columns: { id: { type: integer, primary_key: true } } }",
  config: 'rules.notes.read = "public"',
};
const password = "correct horse battery staple";
const wrong = "wrong horse battery staple";

describe("a login that fails", () => {
  it("answers the same, byte for byte, at the same number of hashes and statements, whatever was wrong", async () => {
    const storage = switchboard();
    const server = await serve({ ...project, wrap: storage.wrap });
    const { passwordHasher } = server.platform;
    let hashes = 0;
    const counting = {
      hasRoomFor: () => true,
      hash: (text: string) => passwordHasher.hash(text),
      verify: (text: string, phc: string) => {
        hashes++;
        return passwordHasher.verify(text, phc);
      },
    };
    Object.assign(server.platform, { passwordHasher: counting });
    await signUp(server, "ada@example.com");
    await signUp(server, "off@example.com");
    await run(server, "UPDATE _users SET disabled = 1 WHERE email_key = 'off@example.com'");
    await member(server, "social");
    await run(server, "UPDATE _users SET password_hash = NULL WHERE id = 'social'");
    const sessions = await countOf(server, "_sessions");
    const costs = [];
    for (const [email, tried] of [
      ["unknown@example.com", password],
      ["ada@example.com", wrong],
      ["social@example.com", password],
      ["off@example.com", password],
      ["off@example.com", wrong],
    ] as const) {
      storage.reset();
      hashes = 0;
      const answer = await client(server).post("/auth/login", { email, password: tried });
      expectRefusal(answer, 401, "invalid_credentials");
      costs.push({
        text: answer.text,
        headers: [...answer.headers.keys()].sort(),
        hashes,
        roundTrips: storage.roundTrips,
        statements: storage.sent.map(({ sql }) => sql),
      });
    }
    for (const cost of costs) expect(cost).toEqual(costs[0]);
    expect(costs[0]!.hashes).toBe(1);
    expect(await countOf(server, "_sessions")).toBe(sessions);
  });

  it("with a password over 1024 bytes is 400, and runs no hash", async () => {
    const server = await serve(project);
    Object.assign(server.platform, {
      passwordHasher: {
        hash: () => Promise.reject(new Error("hash")),
        verify: () => Promise.reject(new Error("verify")),
      },
    });
    const answer = await client(server).post("/auth/login", {
      email: "a@example.com",
      password: "x".repeat(1025),
    });
    expectRefusal(answer, 400, "bad_request");
    expect(server.log.lines).toEqual([]);
  });
});

it("every login opens a session of its own", async () => {
  const server = await serve(project);
  const first = await signUp(server, "ada@example.com");
  const second = dataOf<{ access_token: string; refresh_token: string }>(
    await client(server).post("/auth/login", { email: "ada@example.com", password }),
  );
  expect(second.refresh_token).not.toBe(first.refreshToken);
  await client(server).post("/auth/logout", { refresh_token: first.refreshToken });
  expectRefusal(await client(server, first.bearer).get("/auth/me"), 401, "unauthorized");
  const me = client(server, { Authorization: `Bearer ${second.access_token}` });
  expect((await me.get("/auth/me")).status).toBe(200);
});

describe("/auth/me", () => {
  it("is 401 without a credential, 403 for a key", async () => {
    const server = await serve(project);
    expectRefusal(await client(server).get("/auth/me"), 401, "unauthorized");
    expectRefusal(await client(server, await apiKey(server, "project:backend")).get("/auth/me"), 403, "forbidden");
  });

  it("shows what the database says, and no more", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada", "admin");
    await run(server, "UPDATE _users SET email_verified = 1");
    expectAnswer(await client(server, ada.bearer).get("/auth/me"), 200, {
      data: {
        user: {
          id: "ada",
          email: "ada@example.com",
          role: "admin",
          disabled: false,
          email_verified: true,
          created_at: new Date(server.clock.now()).toISOString(),
        },
      },
    });
  });
});

describe("failed logins in the window", () => {
  const from = (address: string) => ({ "Test-Client-Address": address });
  const config = `${project.config}\nauth.throttle = { max_failures = 3 }`;

  it("past the limit are 429 with Retry-After, also with the right password, while the owner elsewhere gets in", async () => {
    const server = await serve({ ...project, config });
    await signUp(server, "ada@example.com");
    const stranger = client(server, from("198.51.100.7"));
    const body = (tried: string) => ({ email: "Ada@Example.com", password: tried });
    for (let attempt = 0; attempt < 3; attempt++)
      expectRefusal(await stranger.post("/auth/login", body(wrong)), 401, "invalid_credentials");
    for (const tried of [wrong, password]) {
      const limited = await stranger.post("/auth/login", body(tried));
      expectRefusal(limited, 429, "rate_limited");
      expect(limited.headers.get("Retry-After")).toMatch(/^([1-9]\d?|[12]\d\d|300)$/);
    }
    expect((await client(server, from("203.0.113.1")).post("/auth/login", body(password))).status).toBe(200);
    const forged = client(server, { ...from("198.51.100.7"), "X-Forwarded-For": "203.0.113.9" });
    expectRefusal(await forged.post("/auth/login", body(password)), 429, "rate_limited");
    server.clock.advance(301_000);
    expect((await stranger.post("/auth/login", body(password))).status).toBe(200);
  });

  it("count for unknown addresses as for known ones", async () => {
    const server = await serve({ ...project, config });
    const stranger = client(server, from("198.51.100.7"));
    const body = { email: "nobody@example.com", password: wrong };
    const statuses = [];
    for (let attempt = 0; attempt < 5; attempt++) statuses.push((await stranger.post("/auth/login", body)).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  });

  it("count by the /64 of an IPv6 address", async () => {
    const server = await serve({ ...project, config });
    const statuses = [];
    for (const host of ["1", "2:3", "ffff:ffff:ffff:ffff"]) {
      const caller = client(
        server,
        from(`2001:db8:0:1::${host}`.replace("::ffff:ffff:ffff:ffff", ":ffff:ffff:ffff:ffff")),
      );
      statuses.push((await caller.post("/auth/login", { email: "x@example.com", password: wrong })).status);
    }
    const login = (address: string) =>
      client(server, from(address)).post("/auth/login", { email: "x@example.com", password: wrong });
    statuses.push((await login("2001:db8:0:1::9")).status, (await login("2001:db8:0:2::9")).status);
    expect(statuses).toEqual([401, 401, 401, 429, 401]);
  });

  it("many at once are let through no more often than one after the other", async () => {
    const server = await serve({ ...project, config });
    const stranger = client(server, from("198.51.100.7"));
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => stranger.post("/auth/login", { email: "x@example.com", password: wrong })),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9);
  });
});
