import { expect } from "vitest";
import { applyChange } from "../../src/schema/apply.js";
import { pullSchema } from "../../src/schema/pull/pull.js";
import { type Client, client } from "./client.js";
import { run } from "./people.js";
import { apiKey, serve, type TestServer } from "./server.js";

/** Tables that another program made, pulled and adopted while the server runs. */
export function adopted(...sql: string[]): Promise<{ server: TestServer; key: Client }> {
  return adoptedWith("usage.enabled = false", ...sql);
}

export async function adoptedWith(config: string, ...sql: string[]): Promise<{ server: TestServer; key: Client }> {
  const server = await serve({
    schema: "first: { columns: { id: { type: integer, primary_key: true } } }",
    config,
  });
  for (const each of sql) await run(server, each);
  const { text } = await pullSchema(server.database);
  const outcome = await applyChange(server.database, text, { allowDestructive: false, now: 1 });
  expect(outcome).toMatchObject({ outcome: "applied" });
  return { server, key: client(server, await apiKey(server, "project:backend")) };
}
