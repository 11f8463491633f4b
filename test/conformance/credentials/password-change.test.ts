import { expect, it } from "vitest";
import { client, expectRefusal } from "../../support/client.js";
import { post, serve, signUp } from "../../support/server.js";

const schema = "notes: { columns: { id: { type: integer, primary_key: true } } }";
const current = "correct horse battery staple";

it("a changed password ends every session, the caller's too, and is the one that signs in", async () => {
  const server = await serve({ schema });
  const ada = await signUp(server, "ada@example.com");
  await post(server, "/auth/login", { email: "ada@example.com", password: current });
  const body = { current_password: current, password: "another horse" };
  const changed = await client(server, ada.bearer).post("/auth/password", body);
  expect(changed.body).toEqual({ data: { revoked_sessions: 2 } });
  expectRefusal(await client(server, ada.bearer).get("/auth/me"), 401, "unauthorized");
  const refresh = await client(server).post("/auth/refresh", { refresh_token: ada.refreshToken });
  expectRefusal(refresh, 401, "invalid_refresh_token");
  const login = (password: string) => client(server).post("/auth/login", { email: "ada@example.com", password });
  expectRefusal(await login(current), 401, "invalid_credentials");
  expect((await login("another horse")).status).toBe(200);
});

it("a wrong current password is 403, counts like a failed login, and changes nothing", async () => {
  const server = await serve({ schema, config: "[auth.throttle]\nmax_failures = 1" });
  const ada = await signUp(server, "ada@example.com");
  const attempt = () =>
    client(server, ada.bearer).post("/auth/password", {
      current_password: "wrong",
      password: "another horse",
    });
  expectRefusal(await attempt(), 403, "invalid_credentials");
  expectRefusal(await attempt(), 429, "rate_limited");
  expect((await client(server, ada.bearer).get("/auth/me")).status).toBe(200);
});

it("a weak new password, a missing field, nobody and an API key are refused", async () => {
  const server = await serve({ schema });
  const ada = client(server, (await signUp(server, "ada@example.com")).bearer);
  const weak = await ada.post("/auth/password", { current_password: current, password: "short" });
  expectRefusal(weak, 400, "weak_password");
  expectRefusal(await ada.post("/auth/password", { password: "another horse" }), 400, "bad_request");
  const body = { current_password: current, password: "another horse" };
  expectRefusal(await client(server).post("/auth/password", body), 401, "unauthorized");
});
