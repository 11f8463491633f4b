import { expect, it } from "vitest";
import { openSuccessor } from "../../../src/auth/sessions/refresh-rotation.js";
import { deriveBytes } from "../../../src/encoding/secret-keys.js";
import { client, dataOf } from "../../support/client.js";
import { rowsOf } from "../../support/people.js";
import { apiKey, serve, signUp, type TestServer, testSecret } from "../../support/server.js";
import { project, type Tokens } from "./support.js";

async function dumpOf(server: TestServer): Promise<string[]> {
  const tables = await rowsOf(
    server,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '_*' AND name NOT GLOB '_cf_*'",
  );
  const values: string[] = [];
  for (const [table] of tables)
    for (const row of await rowsOf(server, `SELECT * FROM "${table}"`)) values.push(...row.map(String));
  return values;
}

it("a dump of the server's tables holds no usable refresh token, access token or key", async () => {
  const server = await serve(project);
  const ada = await signUp(server, "ada@example.com");
  const key = await apiKey(server, "project:backend");
  const anonymous = client(server);
  const first = dataOf<Tokens>(await anonymous.post("/auth/refresh", { refresh_token: ada.refreshToken }));
  const second = dataOf<Tokens>(await anonymous.post("/auth/refresh", { refresh_token: first.refresh_token }));
  const values = await dumpOf(server);
  expect(values.length).toBeGreaterThan(20);
  const dump = values.join("\n");
  for (const secret of [
    ada.refreshToken,
    first.refresh_token,
    second.refresh_token,
    ada.accessToken,
    second.access_token,
    key.Authorization.slice("Bearer ".length),
  ]) {
    expect(dump).not.toContain(secret);
    expect(dump).not.toContain(secret.replace(/^svc_(rt|sk)_/, ""));
  }
  for (const value of new Set(values))
    for (const attempt of [value, `svc_rt_${value}`]) {
      const refreshed = await anonymous.post("/auth/refresh", { refresh_token: attempt });
      expect(refreshed.status).toBe(401);
      const Authorization = `Bearer ${/^[\w.-]+$/.test(attempt) ? attempt : "x"}`;
      expect((await client(server, { Authorization }).get("/auth/me")).status).toBe(401);
    }
  expect((await anonymous.post("/auth/refresh", { refresh_token: second.refresh_token })).status).toBe(200);
});

it("a sealed successor opens only with its predecessor and the server's secret together", async () => {
  const server = await serve(project);
  const ada = await signUp(server, "ada@example.com");
  const first = dataOf<Tokens>(await client(server).post("/auth/refresh", { refresh_token: ada.refreshToken }));
  const [[sealed]] = (await rowsOf(server, "SELECT successor FROM _refresh_tokens WHERE successor IS NOT NULL")) as [
    [string],
  ];
  const key = (secret: string) => deriveBytes(new TextEncoder().encode(secret), "refresh successor");
  expect(await openSuccessor(sealed, ada.refreshToken, await key(testSecret))).toBe(first.refresh_token);
  expect(await openSuccessor(sealed, first.refresh_token, await key(testSecret))).toBeNull();
  expect(await openSuccessor(sealed, "", await key(testSecret))).toBeNull();
  expect(await openSuccessor(sealed, ada.refreshToken, await key(`${testSecret}!`))).toBeNull();
});
