import { expect, it } from "vitest";
import { doubleCredentials, serveWithDouble } from "../../support/oauth/double-server.js";
import { atProvider, authorize, deliver, exchange, newChallenge, sentBack } from "../../support/oauth/flow.js";
import { rowsOf } from "../../support/people.js";

it("the database and the log hold none of the secrets of a sign-in", async () => {
  const { provider, server } = await serveWithDouble();
  const challenge = newChallenge();
  const url = await authorize(server, "google", challenge.challenge);
  const back = await atProvider(url);
  const told = sentBack(await deliver(server, back));
  const early = JSON.stringify(await rowsOf(server, "SELECT * FROM _oauth_codes"));
  expect((await exchange(server, { ...challenge, told })).status).toBe(200);
  const tables = await rowsOf(
    server,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '_*' AND name NOT GLOB '_cf_*'",
  );
  const rows = await Promise.all(tables.map(([name]) => rowsOf(server, `SELECT * FROM "${name}"`)));
  const kept = [early, JSON.stringify(rows), ...server.log.lines].join("\n");
  const [sent] = provider.tokenRequests;
  for (const secret of [
    url.searchParams.get("state"),
    url.searchParams.get("nonce"),
    sent!.get("code_verifier"),
    back.parameters.get("code"),
    told.get("code"),
    challenge.verifier,
    doubleCredentials.client_secret,
  ])
    expect(kept).not.toContain(secret);
});
