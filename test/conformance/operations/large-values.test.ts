import { expect, it } from "vitest";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { serve } from "../../support/server.js";

const schema = `
docs: { columns: { id: { type: integer, primary_key: true }, body: { type: text } } }
$operations:
  swap:
    params: { from: text, to: text }
    allow: "true"
    steps: [{ sql: "update docs set body = replace(body, :from, :to) where id = 1" }]
  append:
    params: { text: text }
    allow: "true"
    steps: [{ sql: "update docs set body = body || :text where id = 1 returning length(body) as n", returns: one, as: { n: integer } }]
  padded:
    params: { width: integer }
    allow: "true"
    steps: [{ sql: "select length(printf('%0*d', :width, id)) as n from docs", returns: one, as: { n: integer } }]
  measured:
    params: { text: text }
    allow: "true"
    steps: [{ sql: "select length(replace(hex(zeroblob(1000)), '0', :text)) as n", returns: one, as: { n: integer } }]
  found:
    params: { text: text }
    allow: "true"
    steps: [{ sql: "select id from docs where body like '%' || :text", returns: many }]
`;

it("no step makes a value of more than 4,194,304 bytes, nor one within another", async () => {
  const server = await serve({ schema, config: "" });
  await run(server, "INSERT INTO docs VALUES (1, replace(hex(zeroblob(500)), '0', 'a'))");
  const ada = client(server, (await member(server, "ada")).bearer);
  const refused = async (operation: string, params: object) => {
    const answer = await ada.post(`/ops/${operation}`, params);
    expect(expectRefusal(answer, 400, "bad_request"), operation).toContain("too large");
  };
  expect(dataOf(await ada.post("/ops/padded", { width: 100_000 }))).toEqual({ n: 100_000 });
  for (const width of [4_194_305, 500_000_000, -500_000_000]) await refused("padded", { width });
  expect(dataOf(await ada.post("/ops/measured", { text: "abc" }))).toEqual({ n: 6000 });
  await refused("measured", { text: "x".repeat(2098) });
  await refused("measured", { text: "x".repeat(900_000) });
  await refused("swap", { from: "a", to: "x".repeat(4195) });
  await refused("swap", { from: "a", to: "x".repeat(900_000) });
  expect(await rowsOf(server, "SELECT length(body) AS n, count(*) AS rows FROM docs")).toEqual([[1000, 1]]);
  await ada.post("/ops/swap", { from: "a", to: "bc" });
  expect(dataOf(await ada.post("/ops/append", { text: "!" }))).toEqual({ n: 2001 });
  expect(dataOf(await ada.post("/ops/found", { text: "c!" }))).toEqual([{ id: 1 }]);
  await refused("found", { text: `${"bc".repeat(10_000)}` });
});
