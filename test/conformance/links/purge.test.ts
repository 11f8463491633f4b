import { expect, it } from "vitest";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { serve, signUp } from "../../support/server.js";
import { hour, lastToken, open, password, verifying } from "./support.js";

interface Tokens {
  readonly refresh_token: string;
}

it("erases a sealed successor half a minute after its grace window, and not before", async () => {
  const server = await serve(open);
  const ada = await signUp(server, "ada@example.com");
  const refresh = (refresh_token: string) => client(server).post("/auth/refresh", { refresh_token });
  const { refresh_token: next } = dataOf<Tokens>(await refresh(ada.refreshToken));
  server.clock.advance(10_000);
  await server.upkeep.purge();
  expect(dataOf<Tokens>(await refresh(ada.refreshToken)).refresh_token).toBe(next);
  // A request that arrived within the window may still be on its way to the database.
  server.clock.advance(30_000);
  await server.upkeep.purge();
  expect(await rowsOf(server, "SELECT 1 FROM _refresh_tokens WHERE successor IS NOT NULL")).toEqual([[1]]);
  server.clock.advance(1);
  await server.upkeep.purge();
  expect(await rowsOf(server, "SELECT 1 FROM _refresh_tokens WHERE successor IS NOT NULL")).toEqual([]);
  expect((await refresh(next)).status).toBe(200);
});

it("removes sessions that ended, with their tokens, and leaves those that live", async () => {
  const server = await serve(open);
  const ada = await member(server, "ada");
  const bob = await member(server, "bob");
  await client(server).post("/auth/logout", { refresh_token: ada.refreshToken });
  await server.upkeep.purge();
  expect(await rowsOf(server, "SELECT user_id FROM _sessions")).toEqual([["bob"]]);
  expect(await countOf(server, "_refresh_tokens")).toBe(1);
  expectRefusal(await client(server, ada.bearer).get("/auth/me"), 401, "unauthorized");
  const again = await client(server).post("/auth/refresh", { refresh_token: ada.refreshToken });
  expectRefusal(again, 401, "invalid_refresh_token");
  expect((await client(server, bob.bearer).get("/auth/me")).status).toBe(200);
  server.clock.advance(2_592_000_000 + 900_000);
  await server.upkeep.purge();
  expect(await countOf(server, "_sessions")).toBe(1);
  server.clock.advance(1);
  await server.upkeep.purge();
  expect([await countOf(server, "_sessions"), await countOf(server, "_refresh_tokens")]).toEqual([0, 0]);
  server.clock.advance(-40 * 24 * hour);
  const back = await client(server).post("/auth/refresh", { refresh_token: bob.refreshToken });
  expectRefusal(back, 401, "invalid_refresh_token");
});

it("removes links a week after their end, and counters after their window", async () => {
  const server = await serve(verifying);
  await client(server).post("/auth/register", { email: "ada@example.com", password });
  const token = await lastToken(server, "ada@example.com");
  await client(server).post("/auth/login", { email: "nobody@example.com", password });
  await server.upkeep.purge();
  expect([await countOf(server, "_links"), await countOf(server, "_throttle")]).toEqual([1, 5]);
  server.clock.advance(24 * hour);
  await server.upkeep.purge();
  expect([await countOf(server, "_links"), await countOf(server, "_throttle")]).toEqual([1, 0]);
  server.clock.advance(8 * 24 * hour);
  await server.upkeep.purge();
  expect(await countOf(server, "_links")).toBe(0);
  server.clock.advance(-8 * 24 * hour);
  const confirmed = await client(server).post("/auth/email-verification/confirm", { token });
  expectRefusal(confirmed, 400, "invalid_token");
});

it("goes in small batches, until nothing is left", async () => {
  const storage = switchboard();
  const server = await serve({ ...open, wrap: storage.wrap });
  await member(server, "ada");
  await run(
    server,
    `INSERT INTO _sessions (id, user_id, created_at, revoked_at) WITH RECURSIVE n(i) AS
    (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) SELECT 's' || i, 'ada', 0, 0 FROM n`,
  );
  storage.reset();
  await server.upkeep.purge();
  expect(await countOf(server, "_sessions")).toBe(1);
  const batches = storage.sent.filter(({ sql }) => sql.includes("WHERE revoked_at IS NOT NULL LIMIT"));
  expect(batches).toHaveLength(3);
});
