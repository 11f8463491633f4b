import { describe, expect, it } from "vitest";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";
import { mailsTo, notes } from "../links/support.js";

const password = "correct horse battery staple";
const limit = (max: number, more = "") => ({
  schema: notes,
  config: `[auth.throttle]\nmax_registrations_per_address = ${max}\n${more}`,
});

const from = (server: TestServer, address: string) => client(server, { "Test-Client-Address": address });
const register = (server: TestServer, address: string, name: string) =>
  from(server, address).post("/auth/register", { email: `${name}@example.com`, password });

/** All that is stored of users, mails and counters. */
const stored = async (server: TestServer) =>
  Promise.all(
    ["_users", "_sessions", "_links", "_outbox", "_throttle"].map((table) =>
      rowsOf(server, `SELECT * FROM ${table} ORDER BY 1`),
    ),
  );

describe("registrations, resent links and resets from one address", () => {
  it("are limited together; past that 429 tells when to come back, and nothing is written or mailed", async () => {
    const server = await serve(limit(3));
    expect((await register(server, "203.0.113.1", "ada")).status).toBe(201);
    const client1 = from(server, "203.0.113.1");
    const ada = { email: "ada@example.com" };
    server.clock.advance(600_000);
    expect((await client1.post("/auth/email-verification/resend", ada)).status).toBe(202);
    expect((await client1.post("/auth/password-reset/request", ada)).status).toBe(202);
    expect(await mailsTo(server, ada.email)).toHaveLength(1);
    const before = await stored(server);
    for (const refused of [
      await register(server, "203.0.113.1", "bob"),
      await client1.post("/auth/email-verification/resend", ada),
      await client1.post("/auth/password-reset/request", ada),
    ]) {
      expectRefusal(refused, 429, "rate_limited");
      expect(refused.headers.get("Retry-After")).toBe("3000");
    }
    expect(await stored(server)).toEqual(before);
    expect(await mailsTo(server, ada.email)).toHaveLength(1);
    expect((await register(server, "203.0.113.2", "cyd")).status).toBe(201);
    server.clock.advance(3_000_000);
    expect((await register(server, "203.0.113.1", "bob")).status).toBe(201);
  });

  it("are a thousand an hour", async () => {
    const server = await serve({ schema: notes });
    expect((await register(server, "203.0.113.1", "ada")).status).toBe(201);
    await run(server, "UPDATE _throttle SET count = 999");
    expect((await register(server, "203.0.113.1", "bob")).status).toBe(201);
    expectRefusal(await register(server, "203.0.113.1", "cyd"), 429, "rate_limited");
  });

  it("are those of one IPv6 /64", async () => {
    const server = await serve(limit(1));
    expect((await register(server, "2001:db8:0:1::1", "ada")).status).toBe(201);
    expectRefusal(await register(server, "2001:db8:0:1:ffff::2", "bob"), 429, "rate_limited");
    expect((await register(server, "2001:db8:0:2::1", "bob")).status).toBe(201);
  });

  it("do not pass together", async () => {
    const server = await serve(limit(3));
    const names = ["ada", "bob", "cyd", "dan", "eve", "fay"];
    const answers = await Promise.all(names.map((name) => register(server, "203.0.113.1", name)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 429, 429, 429]);
  });

  it("are not those that are refused before they cost anything", async () => {
    const server = await serve(limit(1));
    const anyone = from(server, "203.0.113.1");
    const email = "ada@example.com";
    for (const body of [{ email }, { email: "ada", password }, { email, password: "letmein" }])
      expect((await anyone.post("/auth/register", body)).status).toBe(400);
    expect((await anyone.post("/auth/password-reset/request", { email: "ada" })).status).toBe(400);
    expect(await rowsOf(server, "SELECT * FROM _throttle")).toEqual([]);
    expect((await register(server, "203.0.113.1", "ada")).status).toBe(201);
  });

  it("are not counted where registration is closed", async () => {
    const closed = await serve({ ...limit(1), schema: `$auth: { registration: closed }\n${notes}` });
    for (let i = 0; i < 2; i++) expectRefusal(await register(closed, "203.0.113.1", "ada"), 403, "registration_closed");
  });

  it("are not counted where the throttle is off", async () => {
    const off = await serve(limit(1, "enabled = false"));
    for (const name of ["ada", "bob", "cyd"]) expect((await register(off, "203.0.113.1", name)).status).toBe(201);
  });

  it("are not counted where no place is left for their password", async () => {
    const server = await serve(limit(1));
    const { passwordHasher } = server.platform;
    const { hasRoomFor } = passwordHasher;
    passwordHasher.hasRoomFor = ({ address, isFor }) => address === "203.0.113.2" || isFor !== "registration";
    expectRefusal(await register(server, "203.0.113.1", "ada"), 503, "auth_unavailable");
    expect(await rowsOf(server, "SELECT * FROM _throttle")).toEqual([]);
    expect((await register(server, "203.0.113.2", "ada")).status).toBe(201);
    passwordHasher.hasRoomFor = hasRoomFor;
    expect((await register(server, "203.0.113.1", "bob")).status).toBe(201);
  });

  it("leave no address in the table", async () => {
    const server = await serve(limit(1));
    await register(server, "203.0.113.1", "ada");
    const rows = await rowsOf(server, "SELECT key FROM _throttle");
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain("203.0");
  });
});

describe("a school with one address", () => {
  it("signs in and refreshes as often as it likes", async () => {
    const server = await serve(limit(1));
    const school = from(server, "203.0.113.1");
    let tokens = dataOf<{ refresh_token: string }>(await register(server, "203.0.113.1", "ada"));
    for (let i = 0; i < 12; i++) {
      const login = await school.post("/auth/login", { email: "ada@example.com", password });
      expect(login.status).toBe(200);
      const refreshed = await school.post("/auth/refresh", { refresh_token: tokens.refresh_token });
      expect(refreshed.status).toBe(200);
      tokens = dataOf(refreshed);
    }
    expectRefusal(await register(server, "203.0.113.1", "bob"), 429, "rate_limited");
  });

  it("signs in thirty at once", async () => {
    const server = await serve({ schema: notes });
    const pupils = Array.from({ length: 30 }, (_, i) => ({
      email: `pupil${i}@example.com`,
      password: `${password} ${i}`,
    }));
    for (const pupil of pupils)
      expect((await from(server, "198.51.100.1").post("/auth/register", pupil)).status).toBe(201);
    const school = from(server, "203.0.113.1");
    const answers = await Promise.all(pupils.map((pupil) => school.post("/auth/login", pupil)));
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
  });
});
