import { expect, it } from "vitest";
import { client, expectRefusal } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

/** A list whose first statement ends at a long value is read again: the caller is checked all the same. */
const schema = `
notes:
  columns: { id: { type: integer, primary_key: true }, body: { type: text } }
`;
const config = `[rules.notes]\nread = "auth.id is not null"`;

const paths = [
  "/api/notes",
  "/api/notes?sort=-id&limit=2",
  "/api/notes?filter[body][ne]=x",
  "/api/notes/_svc/aggregate?group=body&count=*",
];

it.each(paths)("%s by an ended session and a revoked key", async (path) => {
  const server = await serve({ schema, config });
  await run(
    server,
    "INSERT INTO notes (id, body) VALUES (1, ?), (2, ?), (3, ?)",
    ...["a", "b", "c"].map((c) => c.repeat(120_000)),
  );
  const ada = await member(server, "ada");
  const secret = await apiKey(server, "resource:notes:read");
  const [user, key] = [client(server, ada.bearer), client(server, secret)];
  // From here on the server expects that both are who they were.
  for (const caller of [user, key]) expect((await caller.get("/api/notes/1")).status).toBe(200);
  await run(server, "DELETE FROM _sessions");
  await run(server, "DELETE FROM _service_keys");
  expectRefusal(await user.get(path), 401, "unauthorized");
  expectRefusal(await key.get(path), 401, "unauthorized");
});
