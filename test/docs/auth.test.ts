import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/project/parse-config.js";
import { client } from "../support/client.js";
import { member } from "../support/people.js";
import { apiKey, serve, type TestServer } from "../support/server.js";
import { blocksOf } from "./pages.js";

const schema = "notes: { columns: { id: { type: integer, primary_key: true } } }";

const settingsOf = (page: string) => blocksOf(page).filter(({ language }) => language === "toml");

it.each(["auth", "configuration"])("the examples of %s.md are settings without problems", (page) => {
  for (const { text } of settingsOf(`docs/reference/${page}.md`)) expect(parseConfig(text).problems, text).toEqual([]);
});

describe("the page's table of cross-site requests", () => {
  const { text: config } = settingsOf("docs/reference/auth.md")[0]!;
  const own = { Origin: "http://127.0.0.1:8787" };
  const allowed = { Origin: "https://app.example.com" };
  const foreign = { Origin: "https://evil.example.com" };
  const elsewhere = { "Sec-Fetch-Site": "cross-site" };
  const cookie = { Cookie: "svc_access=x" };

  const post = (server: TestServer, path: string, headers: Record<string, string>) =>
    server.request(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: "{}",
    });

  it("refuses what it says, and lets through what it says", async () => {
    const server = await serve({ schema, config });
    // What is let through fails for another reason: the cookie is none, the body is empty, the rules deny.
    const expected = [
      [own, 401, 400, 401],
      [allowed, 401, 400, 401],
      [foreign, 403, 403, 401],
      [elsewhere, 403, 403, 401],
      [{}, 403, 400, 401],
    ] as const;
    for (const [from, ...statuses] of expected) {
      const answers = [
        await post(server, "/api/notes", { ...from, ...cookie }),
        await post(server, "/auth/login", from),
        await post(server, "/api/notes", from),
      ];
      expect(
        answers.map(({ status }) => status),
        JSON.stringify(from),
      ).toEqual(statuses);
    }
  });
});

describe("the page's table of scopes", () => {
  it.each([
    ["resource:notes:read", [200, 403, 403]],
    ["resource:notes:write", [403, 201, 403]],
    ["project:backend", [200, 201, 200]],
  ])("%s", async (scope, statuses) => {
    const server = await serve({ schema });
    const key = client(server, await apiKey(server, scope));
    const answers = [await key.get("/api/notes"), await key.post("/api/notes", {}), await key.get("/admin/api/users")];
    expect(answers.map(({ status }) => status)).toEqual(statuses);
    expect((await key.get("/auth/me")).status).toBe(403);
    expect((await key.post("/admin/api/service-keys", { name: "k", scopes: [scope] })).status).toBe(403);
  });
});

describe("the page's table of rotation", () => {
  it("gives a successor, the same one inside the window, and ends the session after it", async () => {
    const server = await serve({ schema });
    const { refreshToken } = await member(server, "ada");
    const refresh = () => client(server).post("/auth/refresh", { refresh_token: refreshToken });
    const successor = (answer: Awaited<ReturnType<typeof refresh>>) =>
      (answer.body as { data: { refresh_token: string } }).data.refresh_token;
    const first = successor(await refresh());
    server.clock.advance(10_000);
    expect(successor(await refresh())).toBe(first);
    server.clock.advance(1);
    expect((await refresh()).status).toBe(401);
    expect((await client(server).post("/auth/refresh", { refresh_token: first })).status).toBe(401);
  });
});
