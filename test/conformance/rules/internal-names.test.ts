import { expect, it } from "vitest";
import { client, expectRefusal } from "../../support/client.js";
import { countOf, member, run } from "../../support/people.js";
import { serve } from "../../support/server.js";

/** Names that a statement might make up for itself. */
const names = ["x_m", "page", "counted", "peeked", "gates", "gate", "t", "w", "n", "new", "row", "auth"];

const schema = `
members:
  primary_key: [id, user]
  columns: { id: { type: integer }, user: { type: text } }
${names
  .map((name) => `${name}: { columns: { id: { type: integer, primary_key: true }, owner: { type: text } } }`)
  .join("\n")}
`;

const config = names
  .map(
    (name) => `[rules.${name}]
read = "exists(members m where m.user = auth.id) or exists(members m where m.id = row.id and m.user = auth.id)"
create = "exists(${name} x where x.owner = auth.id)"
update = "exists(members m where m.id = row.id and m.user = auth.id)"
delete = "exists(members m where m.id = row.id and m.user = auth.id)"
`,
  )
  .join("\n");

it.each(names)("a table called %s is guarded by its rules like any other", async (name) => {
  const server = await serve({ schema, config });
  const ada = client(server, (await member(server, "ada")).bearer);
  await run(server, "INSERT INTO members VALUES (99, 'ada')");
  await run(server, `INSERT INTO "${name}" VALUES (1, 'bob')`);
  expectRefusal(await ada.patch(`/api/${name}/1`, { owner: "ada" }), 403, "forbidden");
  expectRefusal(await ada.delete(`/api/${name}/1`), 403, "forbidden");
  expectRefusal(await ada.post(`/api/${name}`, { owner: "ada" }), 403, "forbidden");
  expect(await countOf(server, `"${name}"`)).toBe(1);
  const listed = await ada.get(`/api/${name}?sort=owner&where[id]=1`);
  expect(listed.body).toMatchObject({ data: [{ id: 1, owner: "bob" }], meta: { total: 1 } });
  expect((await ada.get(`/api/${name}?limit=1`)).status).toBe(200);
});
