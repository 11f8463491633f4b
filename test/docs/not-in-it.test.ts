import { expect, test } from "vitest";
import { client } from "../support/client.js";
import { apiKey, serve } from "../support/server.js";

const project = {
  schema: `
notes:
  columns:
    id: { type: integer, primary_key: true }
    body: { type: text }
    data: { type: json }
`,
};

/** What docs/not-in-it.md says is missing: who asks for it is told so, and gets nothing else instead. */
const missing: readonly (readonly [method: string, path: string, body: unknown, status: number])[] = [
  ["GET", "/api/notes?filter[body][matches]=a", undefined, 400],
  ["GET", "/api/notes?filter[id][ne]=1&filter[id][ne]=2", undefined, 400],
  ["GET", "/api/notes?filter[data][contains]=a", undefined, 400],
  ["GET", "/api/notes?filter[notes.id][eq]=1", undefined, 400],
  ["GET", "/api/notes?expand=notes.id.body", undefined, 400],
  ["GET", "/api/notes/_svc/aggregate?count=*&having[count][gt]=1", undefined, 400],
  ["GET", "/api/notes/_svc/webhooks", undefined, 404],
  ["PATCH", "/api/notes?where[body]=a", { body: "b" }, 405],
  ["DELETE", "/api/notes?where[body]=a", undefined, 405],
  ["PATCH", "/api/notes/1", { id: 2 }, 400],
  ["DELETE", "/api/notes", [1, 2], 405],
  ["POST", "/ops/transfer", {}, 404],
  ["POST", "/graphql", {}, 404],
  ["PATCH", "/admin/api/users/ada", { email: "b@example.com" }, 400],
];

test("what is not in it is refused", async () => {
  const server = await serve(project, "app");
  const scopes = ["resource:notes:read", "resource:notes:write", "project:backend"];
  const key = client(server, await apiKey(server, ...scopes));
  expect((await key.post("/api/notes", { body: "a" })).status).toBe(201);
  const answers = [];
  for (const [method, path, body] of missing) {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { "Content-Type": "application/json" };
    answers.push([method, path, body, (await key.send(method, path, { ...init, headers })).status]);
  }
  expect(answers).toEqual(missing);
});
