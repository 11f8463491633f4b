import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal, metaOf, pagesOf } from "../../support/client.js";
import { apiKey, serve } from "../../support/server.js";

const project = {
  schema:
    "texts: { columns: { id: { type: integer, primary_key: true }, t: { type: text } }, indexes: [{ columns: [t] }] }",
  config: "usage.enabled = false",
};

async function texts(...stored: string[]) {
  const server = await serve(project);
  const key = client(server, await apiKey(server, "project:backend"));
  for (const t of stored) await key.post("/api/texts", { t });
  return key;
}

describe.each(["contains", "starts_with"])("%s is literal", (operator) => {
  it.each([
    ["a percent sign", "%"],
    ["an underscore", "_"],
    ["a quote", "'"],
    ["a double quote", '"'],
    ["a backslash", "\\"],
    ["an asterisk", "*"],
    ["a question mark", "?"],
    ["a bracket", "[a-z]"],
    ["SQL", "' OR 1=1 --"],
    ["a letter outside of ASCII", "é"],
    ["an emoji", "😀"],
    ["a combining letter", "e\u0301"],
    ["a line break", "a\nb"],
    ["white space", "  "],
    ["a plus sign", "+"],
    ["51 bytes", "x".repeat(51)],
    ["51 bytes of underscores", "_".repeat(51)],
    ["10 kB", "0123456789".repeat(1024)],
    ["10 kB of percent signs", "%".repeat(10_240)],
  ])("for %s", async (_, literal) => {
    const key = await texts(literal, `${literal}tail`, `head${literal}`, "abc", "");
    const query = `filter[t][${operator}]=${encodeURIComponent(literal)}`;
    const expected = operator === "contains" ? [1, 2, 3] : [1, 2];
    const listed = await key.get(`/api/texts?select=id&${query}`);
    expect(dataOf(listed)).toEqual(expected.map((id) => ({ id })));
    expect(metaOf(listed).total).toBe(expected.length);
    const pages = await pagesOf(key, `/api/texts?select=id&limit=1&${query}`);
    expect(pages.flatMap(({ data }) => data)).toEqual(expected.map((id) => ({ id })));
  });

  it("and case-sensitive, outside of ASCII too", async () => {
    const key = await texts("Äpfel", "äpfel");
    for (const [literal, id] of [
      ["Äp", 1],
      ["äp", 2],
    ] as const)
      expect(dataOf(await key.get(`/api/texts?select=id&filter[t][${operator}]=${literal}`))).toEqual([{ id }]);
    expect(dataOf(await key.get(`/api/texts?select=id&filter[t][${operator}]=ÄP`))).toEqual([]);
  });
});

describe("in", () => {
  it.each([1, 2, 100, 101, 1000])("takes %i values", async (count) => {
    const key = await texts("v0", `v${count - 1}`, "other");
    const values = Array.from({ length: count }, (_, n) => `v${n}`);
    for (const list of [values.join(","), JSON.stringify(values)]) {
      const listed = await key.get(`/api/texts?filter[t][in]=${encodeURIComponent(list)}`);
      expectAnswer(listed, 200, {
        data: [
          { id: 1, t: "v0" },
          { id: 2, t: `v${count - 1}` },
        ],
        meta: { limit: 50, offset: 0, total: 2 },
      });
    }
    const ids = Array.from({ length: count }, (_, n) => n + 2).join(",");
    const byId = await key.get(`/api/texts?select=id&filter[id][in]=${ids}`);
    expect(dataOf(byId)).toEqual(count === 1 ? [{ id: 2 }] : [{ id: 2 }, { id: 3 }]);
  });

  it("refuses 1001 values, and none", async () => {
    const key = await texts("v0");
    const values = Array.from({ length: 1001 }, (_, n) => n);
    expectRefusal(await key.get(`/api/texts?filter[id][in]=${values.join(",")}`), 400, "bad_request");
    expectRefusal(await key.get(`/api/texts?filter[t][in]=${JSON.stringify(values.map(String))}`), 400, "bad_request");
    expectRefusal(await key.get("/api/texts?filter[t][in]=[]"), 400, "bad_request");
  });

  it("pages through the rows that a long list names", async () => {
    const key = await texts(...Array.from({ length: 20 }, (_, n) => `v${n}`));
    const list = Array.from({ length: 500 }, (_, n) => `v${n * 2}`).join(",");
    for (const sort of ["id", "-t", "t,id"]) {
      const pages = await pagesOf(key, `/api/texts?limit=3&sort=${sort}&filter[t][in]=${list}`);
      const seen = pages.flatMap(({ data }) => data.map(({ t }) => t as string));
      expect(new Set(seen)).toEqual(new Set(Array.from({ length: 10 }, (_, n) => `v${n * 2}`)));
      expect(seen).toHaveLength(10);
    }
  });
});
