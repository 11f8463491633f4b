import { expect, test } from "vitest";
import { client, dataOf } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

test("a state leaves rows out whose key has NULL, before and after they change", async () => {
  const schema =
    "tags:\n  strict: false\n  history: forever\n  columns: { name: { type: text, primary_key: true }, n: { type: integer } }\n";
  const server = await serve({ schema, config: '[rules.tags]\nread = "public"' });
  const key = client(server, await apiKey(server, "project:backend"));
  await run(server, "INSERT INTO tags VALUES ('a', 1), (NULL, 2), ('b', 3), (NULL, 4)");
  const [[seq]] = (await rowsOf(server, "SELECT max(seq) FROM _changes")) as [[number]];
  const state = async () => dataOf(await key.get(`/api/tags/_svc/state?at=${seq}`));
  const named = [
    { name: "a", n: 1 },
    { name: "b", n: 3 },
  ];
  expect(await state()).toEqual(named);
  await run(server, "UPDATE tags SET n = n + 10");
  expect(await state()).toEqual(named);
});
