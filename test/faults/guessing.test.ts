import { expect, it } from "vitest";
import { lastToken } from "../conformance/links/support.js";
import { client } from "../support/client.js";
import { figure } from "../support/figures.js";
import { serve } from "../support/server.js";

/** How often each address tries. 50 with `npm run test:faults`, which is 28,800 tries in all. */
const everyMinutes = Number(process.env.GUESSES_EVERY ?? 720);
const addresses = 1000;
const day = 24 * 60;

const email = "ada@example.com";
const home = "198.51.100.1";

it("1,000 addresses that guess one account's password for a day are let through about a hundred times", async () => {
  const server = await serve({
    schema: "notes: { columns: { id: { type: integer, primary_key: true } } }",
    config: "[auth.throttle]\nmax_failures_per_address = 1000000",
  });
  const from = (address: string) => client(server, { "Test-Client-Address": address });
  const signIn = async (address: string, password: string) =>
    (await from(address).post("/auth/login", { email, password })).status;
  let password = "correct horse";
  await from(home).post("/auth/register", { email, password });
  expect(await signIn(home, password)).toBe(200);
  let [tries, let_through, ownTries, own] = [0, 0, 0, 0];
  for (let minute = 0; minute < day; minute++, server.clock.advance(60_000)) {
    // The addresses take turns, so that some try in each minute.
    for (let i = minute % everyMinutes; i < addresses; i += everyMinutes) {
      const status = await signIn(`203.0.${i >> 8}.${i & 255}`, `guess ${minute}`);
      expect([401, 429]).toContain(status);
      tries++;
      if (status === 401) let_through++;
    }
    if (minute % 60 === 59) {
      ownTries++;
      if ((await signIn(home, password)) === 200) own++;
    }
  }
  expect(own).toBe(24);
  expect(let_through).toBeLessThanOrEqual(120);
  // In the middle of it, from an address that nobody knows: a link of a mail opens the account.
  const away = "192.0.2.7";
  server.clock.advance(-60_000);
  expect(await signIn(away, password)).toBe(429);
  await from(away).post("/auth/password-reset/request", { email });
  const token = await lastToken(server, email);
  password = "another horse";
  expect((await from(away).post("/auth/password-reset/confirm", { token, password })).status).toBe(200);
  expect(await signIn(away, password)).toBe(200);
  figure(
    "strength",
    "1,000 addresses guess one account's password for a day",
    `${tries} attempts, ${let_through} let through; the owner's own sign-ins, one an hour: ${own} of ${ownTries} succeeded; the one from a new address after a reset succeeded`,
  );
});
