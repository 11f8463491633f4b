import { expect, it } from "vitest";
import { client, dataOf } from "../../support/client.js";
import { run } from "../../support/people.js";
import { apiKey, serve, signUp } from "../../support/server.js";

it("no secret reaches a log or a body that is not its owner's, whatever goes wrong", async () => {
  const server = await serve({
    schema: "notes: { columns: { id: { type: integer, primary_key: true }, t: { type: text, unique: true } } }",
    wrap: (database) => ({
      query: (statements) => database.query(statements),
      batch: (statements) =>
        statements.some(({ params }) => params.includes("break"))
          ? Promise.reject(new Error("broken"))
          : database.batch(statements),
      migrate: (statements) => database.migrate(statements),
      foreignKeysStayOn: database.foreignKeysStayOn,
      answerBytesMax: database.answerBytesMax,
      imageBytesMax: database.imageBytesMax,
      statementsMax: database.statementsMax,
      close: () => database.close(),
    }),
  });
  const password = "correct horse battery staple";
  const ada = await signUp(server, "ada@example.com");
  const keyHeaders = await apiKey(server, "project:backend");
  const key = client(server, keyHeaders);
  const anonymous = client(server);
  const bodies = [
    await key.post("/api/notes", { t: "break" }),
    await key.post("/api/notes", { t: "same" }),
    await key.post("/api/notes", { t: "same" }),
    await key.post("/api/notes?x", { t: "more" }),
    await client(server, ada.bearer).get("/api/notes"),
    await anonymous.post("/auth/login", { email: "ada@example.com", password: `${password}!` }),
    await anonymous.post("/auth/register", { email: "ada@example.com", password }),
    await anonymous.post("/auth/refresh", { refresh_token: `${ada.refreshToken}x` }),
    await anonymous.post("/auth/refresh", { refresh: ada.refreshToken }),
    await client(server, { Authorization: `Basic ${ada.accessToken}` }).get("/auth/me"),
  ];
  await run(server, "UPDATE _service_keys SET scopes = '[]'");
  bodies.push(await key.get("/api/notes"));
  await run(server, "UPDATE _schema SET version = version + 1, text = 'not: [valid'");
  bodies.push(await client(server, ada.bearer).get("/api/notes"));
  expect(bodies.map(({ status }) => status)).toEqual([500, 201, 409, 400, 403, 401, 409, 401, 400, 401, 403, 500]);
  const renewed = dataOf<{ access_token: string; refresh_token: string }>(
    await anonymous.post("/auth/refresh", { refresh_token: ada.refreshToken }),
  );
  const secrets = [
    password,
    ada.accessToken,
    ada.refreshToken,
    renewed.access_token,
    renewed.refresh_token,
    keyHeaders.Authorization.slice("Bearer ".length),
    "$argon2id$",
    "a secret of the test suite",
  ];
  const shown = [...server.log.lines, ...bodies.map(({ text }) => text)].join("\n");
  for (const secret of secrets) expect(shown).not.toContain(secret);
});
