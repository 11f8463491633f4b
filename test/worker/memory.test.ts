import { afterAll, describe, expect, it } from "vitest";
import { insertUser } from "../../src/auth/store/users.js";
import { createArgon2 } from "../../src/node/passwords/argon2.js";
import { client } from "../support/client.js";
import { serve } from "../support/server.js";
import { memoryOfWorkerd } from "../support/workerd/worker.js";

const node = createArgon2();
afterAll(() => node.close());

const megabyte = 1_000_000;

describe.runIf(process.platform === "linux")("memory (as Linux counts it)", () => {
  it("grows by less than 60 MB over idle with 12 logins at once and 40 that are aborted", async () => {
    const server = await serve(
      {
        schema: "notes: { columns: { id: { type: integer, primary_key: true } } }",
        config: "auth.throttle.enabled = false",
      },
      "workerd",
    );
    const people = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => ({
        email: `user${n}@example.com`,
        password: `password ${n}`,
        hash: await node.hash(`password ${n}`),
      })),
    );
    await server.database.batch(
      people.flatMap(
        ({ email, hash }, n) =>
          insertUser({
            id: String(n),
            email,
            emailKey: email,
            passwordHash: hash,
            role: "user",
            emailVerified: true,
            registrationUnconfirmed: false,
            createdAtMs: 0,
            createdBy: null,
          }).statements,
      ),
    );
    expect((await client(server).get("/health")).status).toBe(200);
    const idle = memoryOfWorkerd();
    let highest = idle;
    const watch = setInterval(() => {
      highest = Math.max(highest, memoryOfWorkerd());
    }, 10);

    const logins = people.map(({ email, password }) => client(server).post("/auth/login", { email, password }));
    for (const { status } of await Promise.all(logins)) expect(status).toBe(200);
    // From the first answer on nobody is waited for any more: a fast machine would answer them all.
    const answered = new AbortController();
    const aborted = Array.from({ length: 40 }, async (_, n) => {
      const body = JSON.stringify({ email: people[n % 12]!.email, password: `wrong ${n}` });
      const headers = { "Content-Type": "application/json" };
      // In every phase of the request: some before it is read, some while it hashes.
      const signal = AbortSignal.any([AbortSignal.timeout(n * 5), answered.signal]);
      await server.request("/auth/login", { method: "POST", headers, body, signal });
      answered.abort();
    });
    const outcomes = await Promise.allSettled(aborted);
    expect(outcomes.filter(({ status }) => status === "rejected").length).toBeGreaterThan(20);
    // The isolate goes on as if nothing had been.
    const [{ email, password }] = people as [(typeof people)[0]];
    expect((await client(server).post("/auth/login", { email, password })).status).toBe(200);

    clearInterval(watch);
    highest = Math.max(highest, memoryOfWorkerd());
    console.log(`workerd: idle ${idle / megabyte} MB, at most ${highest / megabyte} MB`);
    expect((highest - idle) / megabyte).toBeLessThan(60);
  });
});
