import { describe, expect, it } from "vitest";
import { client, dataOf, expectRefusal, metaOf } from "../../support/client.js";
import { apiKey, serve } from "../../support/server.js";

const schema = `
articles:
  columns:
    id: { type: integer, primary_key: true }
    title: { type: text }
    body: { type: text }
  search: { columns: [title, body], tokenize: trigram }
`;

const texts = [
  ["東京都に行く", "北京大学生"],
  ["สวัสดีชาวโลก", null],
  ["A red shoelace", "of 100% cotton"],
  ["Crème brûlée", "ΣΙΣΥΦΟΣ"],
  ["shoes", "東京都"],
] as const;

async function served() {
  const server = await serve({ schema });
  const key = client(server, await apiKey(server, "project:backend"));
  const rows = texts.map(([title, body], i) => ({ id: i + 1, title, body }));
  expect((await key.post("/api/articles", rows)).status).toBe(201);
  const search = (words: string, more = "") => key.get(`/api/articles?search=${encodeURIComponent(words)}${more}`);
  const found = async (words: string) => dataOf<{ id: number }[]>(await search(words)).map(({ id }) => id);
  return { key, search, found };
}

describe("a search of a table with tokenize: trigram", () => {
  it("finds texts inside of words, in languages without spaces too, and ranks them", async () => {
    const { found, search, key } = await served();
    expect(await found("東京都")).toEqual([1, 5]);
    expect(await found("京都に")).toEqual([1]);
    expect(await found("大学生")).toEqual([1]);
    expect(await found("ชาวโลก")).toEqual([2]);
    expect(await found("HOEL")).toEqual([3]);
    expect(await found("shoe")).toEqual([3, 5]);
    expect(await found("shoe lac")).toEqual([3]);
    expect(await found('"red shoe" 100%')).toEqual([3]);
    expect(await found("shoe 東京都")).toEqual([5]);
    expect(metaOf(await search("shoe", "&limit=1"))).toMatchObject({ total: 2 });
    await key.patch("/api/articles/5", { title: "boots" });
    expect(await found("shoe")).toEqual([3]);
    await key.delete("/api/articles/3");
    expect(await found("shoe")).toEqual([]);
  });

  it("distinguishes accents, and no case", async () => {
    const { found } = await served();
    expect(await found("crème")).toEqual([4]);
    expect(await found("creme")).toEqual([]);
    expect(await found("σισυφο")).toEqual([4]);
  });

  it("takes no syntax, and refuses words of less than three characters", async () => {
    const { found, search } = await served();
    for (const words of ["AND", "sho*", "title:", "NEAR(", "c0 : shoe", '"""'])
      expect([200, 400]).toContain((await search(words)).status);
    expect(await found("NOT shoe")).toEqual([]);
    for (const words of ["東京", "ab", "shoe of", '"re" shoe', "😀😀"])
      expect(expectRefusal(await search(words), 400, "bad_request")).toBe(
        "search: each word or phrase needs 3 characters or more in this table",
      );
  });
});
