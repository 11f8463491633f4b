import { describe, expect, it } from "vitest";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { countOf, member } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";
import type { Tokens } from "./support.js";

const schema = "notes: { columns: { id: { type: integer, primary_key: true } } }";
const day = 86_400_000;

const refresh = (anonymous: Client, refresh_token: string) => anonymous.post("/auth/refresh", { refresh_token });

/** The tokens after a refresh a day, so many times. */
async function refreshedDaily(server: TestServer, refreshToken: string, days: number): Promise<Tokens> {
  let tokens: Tokens = { refresh_token: refreshToken, access_token: "" };
  for (let i = 0; i < days; i++) {
    server.clock.advance(day);
    tokens = dataOf<Tokens>(await refresh(client(server), tokens.refresh_token));
  }
  return tokens;
}

describe("a session", () => {
  it("ends 90 days after it began, however often it was refreshed", async () => {
    const server = await serve({ schema });
    const anonymous = client(server);
    const ada = await member(server, "ada");
    const tokens = await refreshedDaily(server, ada.refreshToken, 89);
    server.clock.advance(day - 1);
    const last = dataOf<Tokens>(await refresh(anonymous, tokens.refresh_token));
    const me = client(server, { Authorization: `Bearer ${last.access_token}` });
    expect((await me.get("/auth/me")).status).toBe(200);
    server.clock.advance(1);
    expectRefusal(await me.get("/auth/me"), 401, "unauthorized");
    expectRefusal(await me.get("/api/notes"), 401, "unauthorized");
    // The newest token, and one whose successor would be given again.
    for (const token of [last.refresh_token, tokens.refresh_token])
      expectRefusal(await refresh(anonymous, token), 401, "invalid_refresh_token");
    const logout = await anonymous.post("/auth/logout", { refresh_token: last.refresh_token });
    expectRefusal(logout, 401, "invalid_refresh_token");
    await server.upkeep.purge();
    expect([await countOf(server, "_sessions"), await countOf(server, "_refresh_tokens")]).toEqual([0, 0]);
  });

  it("ends after auth.session_max_age_secs, for cookies too", async () => {
    const config = `cors.allowed_origins = ["https://app.example.com"]
      [auth]\ncookie_mode = true\nsession_max_age_secs = 3600`;
    const server = await serve({ schema, config });
    const ada = await member(server, "ada");
    const Origin = "https://app.example.com";
    const byCookie = (cookie: string) => client(server, { Cookie: cookie, Origin });
    server.clock.advance(3_599_999);
    const given = dataOf<Tokens>(await byCookie(`svc_refresh=${ada.refreshToken}`).post("/auth/refresh", {}));
    const access = byCookie(`svc_access=${given.access_token}`);
    expect((await access.get("/auth/me")).status).toBe(200);
    server.clock.advance(1);
    expectRefusal(await access.get("/auth/me"), 401, "unauthorized");
    const refused = await byCookie(`svc_refresh=${given.refresh_token}`).post("/auth/refresh", {});
    expectRefusal(refused, 401, "invalid_refresh_token");
  });

  it("that ends leaves others alone", async () => {
    const server = await serve({ schema, config: "auth.session_max_age_secs = 3600" });
    const ada = await member(server, "ada");
    server.clock.advance(1_800_000);
    const bob = await member(server, "bob");
    server.clock.advance(1_800_000);
    await server.upkeep.purge();
    expectRefusal(await refresh(client(server), ada.refreshToken), 401, "invalid_refresh_token");
    expect((await refresh(client(server), bob.refreshToken)).status).toBe(200);
  });
});
