import { describe, expect, it } from "vitest";
import type { Statement } from "../../../src/platform/database.js";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { countOf, member } from "../../support/people.js";
import { apiKey, serve, signUp } from "../../support/server.js";

const project = {
  schema: "notes: { columns: { id: { type: integer, primary_key: true }, t: { type: text } } }",
  config:
    'usage.enabled = false\nrules.notes = { read = "authenticated", create = "authenticated", update = "authenticated", delete = "authenticated" }',
};

const everything = () => true;
const writes = (statements: readonly Statement[]) =>
  statements.some(({ sql }) => /^\s*(WITH n|INSERT|UPDATE|DELETE)/.test(sql));

async function broken() {
  const storage = switchboard();
  const server = await serve({ ...project, wrap: storage.wrap });
  const ada = await member(server, "ada");
  return { storage, server, ada, caller: client(server, ada.bearer) };
}

describe("while the storage is away", () => {
  it("tables answer 503 `unavailable`, and the first request after it is served", async () => {
    const { storage, server, caller } = await broken();
    await caller.post("/api/notes", { t: "a" });
    for (const failing of [everything, writes]) {
      storage.failing = failing;
      for (const answer of [
        await caller.post("/api/notes", { t: "x" }),
        await caller.patch("/api/notes/1", { t: "x" }),
        await caller.delete("/api/notes/1"),
      ]) {
        expectRefusal(answer, 503, "unavailable");
        expect(answer.text).not.toMatch(/locked|secret|db/);
        expect(answer.headers.get("Set-Cookie")).toBeNull();
      }
      storage.failing = null;
      expectAnswer(await caller.get("/api/notes"), 200, {
        data: [{ id: 1, t: "a" }],
        meta: { limit: 50, offset: 0, total: 1 },
      });
    }
    expectAnswer(await caller.post("/api/notes", { t: "b" }), 201, { data: { id: 2, t: "b" } });
    expect(server.log.lines.join("\n")).not.toContain("Bearer");
  });

  it("lists and gets answer 503 too, and /health says so", async () => {
    const { storage, caller, server } = await broken();
    storage.failing = everything;
    for (const path of ["/api/notes", "/api/notes/1", "/api/nope"])
      expectRefusal(await caller.get(path), 503, "unavailable");
    expectRefusal(await client(server).get("/health"), 503, "unavailable");
    storage.failing = null;
    expect((await client(server).get("/health")).status).toBe(200);
    expectRefusal(await caller.get("/api/nope"), 404, "not_found");
  });

  it("the first request of all fails, and the next ones do not", async () => {
    const storage = switchboard();
    const server = await serve({ ...project, wrap: storage.wrap });
    const key = client(server, await apiKey(server, "project:backend"));
    storage.failing = (statements) => statements.some(({ sql }) => /sqlite_|pragma/i.test(sql));
    expectRefusal(await key.get("/api/notes"), 503, "unavailable");
    storage.failing = null;
    expect((await key.get("/api/notes")).status).toBe(200);
  });

  it("authentication answers 503 `auth_unavailable` without a cookie, and all recovers", async () => {
    const { storage, server } = await broken();
    const bob = await signUp(server, "bob@example.com");
    const anonymous = client(server);
    const credentials = { email: "bob@example.com", password: "correct horse battery staple" };
    for (const failing of [everything, writes]) {
      storage.failing = failing;
      for (const answer of [
        await anonymous.post("/auth/register", { ...credentials, email: "new@example.com" }),
        await anonymous.post("/auth/login", credentials),
        await anonymous.post("/auth/refresh", { refresh_token: bob.refreshToken }),
        await anonymous.post("/auth/logout", { refresh_token: bob.refreshToken }),
        ...(failing === everything ? [await client(server, bob.bearer).get("/auth/me")] : []),
      ]) {
        expectRefusal(answer, 503, "auth_unavailable");
        expect(answer.headers.get("Set-Cookie")).toBeNull();
        expect(answer.text).not.toMatch(/locked|secret\.db/);
      }
    }
    storage.failing = null;
    expect(await countOf(server, "_users")).toBe(2);
    expect((await client(server, bob.bearer).get("/auth/me")).status).toBe(200);
    expect((await anonymous.post("/auth/login", credentials)).status).toBe(200);
    const { refresh_token } = dataOf<{ refresh_token: string }>(
      await anonymous.post("/auth/refresh", { refresh_token: bob.refreshToken }),
    );
    expectAnswer(await anonymous.post("/auth/logout", { refresh_token }), 200, { data: { revoked: true } });
    for (const secret of [bob.refreshToken, bob.accessToken, refresh_token, credentials.password])
      expect(server.log.lines.join("\n")).not.toContain(secret);
  });

  it("a refresh whose answer was lost is repeated with the same token", async () => {
    const { storage, server, ada } = await broken();
    storage.failing = everything;
    const body = { refresh_token: ada.refreshToken };
    expectRefusal(await client(server).post("/auth/refresh", body), 503, "auth_unavailable");
    storage.failing = null;
    const first = dataOf<{ refresh_token: string }>(await client(server).post("/auth/refresh", body));
    const again = dataOf<{ refresh_token: string }>(await client(server).post("/auth/refresh", body));
    expect(again.refresh_token).toBe(first.refresh_token);
  });
});

it("a token that cannot be made is 503 `auth_unavailable`, and its cause is logged", async () => {
  const { server, ada } = await broken();
  const { random } = server.platform;
  const exhausted = {
    bytes: () => {
      throw new Error("no entropy");
    },
  };
  Object.assign(server.platform, { random: exhausted });
  const body = { refresh_token: ada.refreshToken };
  expectRefusal(await client(server).post("/auth/refresh", body), 503, "auth_unavailable");
  expect(server.log.lines.join("\n")).toContain("no entropy");
  Object.assign(server.platform, { random });
  expect((await client(server).post("/auth/refresh", body)).status).toBe(200);
});

it("a database without a schema is 503 `unavailable` for its tables", async () => {
  const { server, caller } = await broken();
  await server.database.batch([{ sql: "DELETE FROM _schema", params: [] }]);
  expectRefusal(await caller.get("/api/notes"), 503, "unavailable");
  expectRefusal(await caller.post("/api/notes", {}), 503, "unavailable");
});
