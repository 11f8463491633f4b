import { expect, it } from "vitest";
import { client, expectRefusal } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";
import { apiKey } from "../../support/server.js";
import { newWorld } from "./project.js";

const question = { as: { anonymous: true }, action: "read", table: "messages" };
const path = "/admin/api/explain";

it("answers administrators alone: no other user, no key, nobody without a credential", async () => {
  const { server, root, ada } = await newWorld();
  expectRefusal(await client(server).post(path, question), 401, "unauthorized");
  expectRefusal(await ada.post(path, question), 403, "forbidden");
  const key = client(server, await apiKey(server, "project:backend"));
  expectRefusal(await key.post(path, question), 403, "forbidden");
  expect((await root.post(path, question)).status).toBe(200);
  expectRefusal(await root.get(path), 405, "method_not_allowed");
  const text = { headers: { "Content-Type": "text/plain" }, body: "{}" };
  expectRefusal(await root.send("POST", path, text), 415, "unsupported_media_type");
});

it("explains anonymous callers, keys by their scopes, and who is shut out", async () => {
  const { server, explain } = await newWorld();
  const read = { action: "read", table: "messages", key: { id: 1 } };
  expect(await explain({ ...read, as: { anonymous: true } })).toMatchObject({
    allowed: false,
    reason: "sign in to do this",
    refusal: { status: 401, code: "unauthorized" },
    rule: { name: "rules.messages.read" },
    sql: null,
    rows_read: 0,
  });

  const credential = await apiKey(server, "resource:messages:read");
  const key = String((await rowsOf(server, "SELECT id FROM _service_keys"))[0]![0]);
  const byKey = await explain({ ...read, as: { key } });
  expect(byKey).toMatchObject({
    allowed: true,
    reason: "the key has the scope, and rules are not asked",
    rule: null,
    terms: [],
    columns: { note: { read: true, write: false } },
  });
  const write = { as: { key }, action: "delete", table: "messages", key: { id: 1 } };
  const scope = "resource:messages:write";
  expect(await explain(write)).toMatchObject({
    allowed: false,
    reason: `the key lacks the scope ${scope}`,
    rule: { name: scope, text: null, line: null, column: null },
    refusal: { status: 403, code: "forbidden" },
  });
  expectRefusal(await client(server, credential).delete("/api/messages/1"), 403, "forbidden");
  expect(await explain({ as: { key }, action: "read", table: "messages" })).toMatchObject({
    allowed: true,
    counts: { rows: 3, allowed: 3 },
    terms: [],
  });
  expect(await explain({ as: { key }, action: "history", table: "messages", key: "1" })).toMatchObject({
    allowed: true,
    terms: [],
  });

  await run(server, "UPDATE _service_keys SET revoked_at = '2020-01-01T00:00:00.000Z' WHERE id = ?", key);
  expect(await explain({ ...read, as: { key } })).toMatchObject({
    allowed: false,
    reason: "the key is revoked: no request of theirs gets in",
    refusal: { status: 401 },
  });
  const email = { email: "ADA@example.com" };
  expect(await explain({ ...read, as: email })).toMatchObject({ allowed: true });
  await run(server, "UPDATE _users SET disabled = 1 WHERE id = 'ada'");
  expect(await explain({ ...read, as: email })).toMatchObject({
    allowed: false,
    reason: "the user is disabled: no request of theirs gets in",
    terms: [{ truth: false }, { truth: true }, { truth: true }],
  });
});

it("says the same as the request log: the rule that refuses, by its name", async () => {
  const { server, explain, ada } = await newWorld('log.format = "json"\n');
  const calls = [
    ["read", () => ada.get("/api/messages/3"), { key: { id: 3 } }],
    ["delete", () => ada.delete("/api/messages/2"), { key: { id: 2 } }],
    ["update", () => ada.patch("/api/messages/1", { note: "x" }), { key: { id: 1 }, values: { note: "x" } }],
  ] as const;
  for (const [action, call, more] of calls) {
    const { rule, refusal } = await explain({ as: { user: "ada" }, action, table: "messages", ...more });
    await server.settled();
    server.log.requests.length = 0;
    const answer = await call();
    await server.settled();
    const line = JSON.parse(server.log.requests[0]!) as { readonly rule: string; readonly error: string };
    expect([line.rule, line.error, answer.status]).toEqual([rule!.name, refusal!.code, refusal!.status]);
    expect(answer.body).toEqual({ error: expect.objectContaining({ message: refusal!.message }) });
  }
});

it("says of a list that names a hidden column what the list is answered with", async () => {
  const { explain, ada } = await newWorld();
  const query = { filter: { note: { eq: "n" } } };
  const { allowed, refusal } = await explain({ ...question, as: { user: "ada" }, query });
  const answer = await ada.post("/api/messages/_svc/query", query);
  const { code, message } = (answer.body as { error: { code: string; message: string } }).error;
  expect([allowed, refusal]).toEqual([false, { status: answer.status, code, message }]);
});

it("refuses what it cannot explain, with the part that is wrong", async () => {
  const { root } = await newWorld();
  const ask = (body: unknown) => root.post(path, body);
  const row = { as: { user: "ada" }, action: "update", table: "messages", key: { id: 1 } };
  const wrong: readonly (readonly [body: unknown, status: number, words: string])[] = [
    [{ ...question, as: { user: "eve" } }, 404, "there is no such user"],
    [{ ...question, as: { email: "eve@example.com" } }, 404, "there is no such user"],
    [{ ...question, as: { key: "eve" } }, 404, "there is no such key"],
    [{ ...question, table: "nothing" }, 404, "no such table"],
    [{ ...question, table: "_users" }, 404, "no such table"],
    [{ ...question, table: 1 }, 400, "table: "],
    [{ ...question, as: {} }, 400, "as: "],
    [{ ...question, as: { user: "ada", key: "k" } }, 400, "as: "],
    [{ ...question, as: { anonymous: false } }, 400, "as: "],
    [{ ...question, as: { user: "a\0" } }, 400, ""],
    [{ ...question, action: "drop" }, 400, "action: "],
    [{ ...question, why: true }, 400, 'unknown member "why"'],
    [{ ...question, query: { nothing: 1 } }, 400, "query: "],
    [{ ...question, query: { expand: ["room_id"] } }, 400, "query: "],
    [{ ...question, key: { id: 1 }, query: {} }, 400, "query: "],
    [{ ...question, values: {} }, 400, "values: "],
    [{ ...row, key: null }, 400, "key: "],
    [{ ...row, key: {} }, 400, "key: field id is missing"],
    [{ ...row, key: { id: "x" } }, 400, "key: id: "],
    [{ ...row, key: "1.0" }, 400, "id: "],
    [{ ...row, values: {} }, 400, "values: expected at least one column"],
    [{ ...row, values: { nothing: 1 } }, 400, "values: unknown column"],
    [{ ...row, values: { room_id: "1" } }, 400, "values: room_id: "],
    [{ ...row, values: { version: 1 } }, 400, "values: version: the server sets"],
    [{ ...row, action: "create" }, 400, "key: "],
  ];
  for (const [body, status, words] of wrong) {
    const answer = await ask(body);
    expect(expectRefusal(answer, status, status === 404 ? "not_found" : "bad_request", columnsOf(answer))).toContain(
      words,
    );
  }
  expect((await ask({ ...row, action: "delete", table: "members", key: "room_id=1&user_id=ada" })).status).toBe(200);
});

/** The columns that a refusal names, which are not what this is about. */
function columnsOf({ body }: { readonly body: unknown }): readonly string[] {
  return (body as { error?: { columns?: string[] } }).error?.columns ?? [];
}
