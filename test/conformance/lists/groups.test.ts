import { describe, expect, it } from "vitest";
import { client, dataOf, expectRefusal, metaOf } from "../../support/client.js";
import { run } from "../../support/people.js";
import { serve } from "../../support/server.js";

const project = {
  schema: `
tasks:
  columns:
    id: { type: integer, primary_key: true }
    author: { type: text }
    status: { type: text }
    flags: { type: integer }
    secret: { type: text }
    j: { type: json }
  indexes: [{ columns: [status] }]
`,
  config: `[rules.tasks]
read = "public"
[rules.tasks.columns.secret]
read = "auth.role = 'admin'"
[api]
scan_limit = 4`,
};

async function tasks() {
  const server = await serve(project);
  await run(
    server,
    `INSERT INTO tasks (id, author, status, flags) VALUES
      (1, 'ada', 'open', 5), (2, 'ada', 'done', 0), (3, 'bob', 'open', 4), (4, 'Bob', NULL, NULL), (5, NULL, 'done', 9)`,
  );
  return client(server);
}

const brackets = (path: string) => path.replace(/(\w+|\$\w+)(?=\.|=)/g, "[$1]").replaceAll(".", "");

describe("groups of filters", async () => {
  it.each([
    ["$or.0.author.eq=ada&$or.1.flags.gt=4", [1, 2, 5]],
    ["$or.1.flags.gt=4&$or.0.author.eq=ada", [1, 2, 5]],
    ["$or.0.author.eq=ada", [1, 2]],
    ["$or.0.author.eq=ada&$or.0.status.eq=open&$or.1.author.eq=bob", [1, 3]],
    ["$not.status.eq=done", [1, 3]],
    ["$not.status.is_null=true", [1, 2, 3, 5]],
    ["$not.author.eq=ada&$not.status.eq=open", [2, 3, 4, 5]],
    ["$and.0.status.eq=open&$and.1.status.ne=done&author.eq=bob", [3]],
    ["$and.0.$or.0.flags.lt=1&$and.0.$or.1.flags.gt=8&$and.1.status.eq=done", [2, 5]],
    ["$or.0.$not.author.in=ada,bob&$or.1.status.is_null=true", [4]],
    ["$not.$not.$not.$not.$not.status.eq=open", [2, 5]],
    ["author.not_in=ada,Bob", [3]],
    ["$not.author.not_in=ada,Bob", [1, 2, 4]],
    ["author.icontains=BO", [3, 4]],
    ["author.contains=bo", [3]],
    ["author.icontains=", [1, 2, 3, 4]],
    ["$or.0.author.icontains=B&$or.1.flags.eq=9", [3, 4, 5]],
  ])("%s", async (filters, expected) => {
    const caller = await tasks();
    const query = filters.split("&").map((filter) => `filter${brackets(filter)}`);
    const found: number[] = [];
    let parameters: string | null = [...query, "select=id"].join("&");
    while (parameters !== null) {
      const page = await caller.get(`/api/tasks?${parameters}`);
      found.push(...dataOf<{ id: number }[]>(page).map(({ id }) => id));
      const { next_cursor: cursor } = metaOf(page) as { next_cursor?: string };
      parameters = cursor === undefined ? null : `cursor=${cursor}`;
    }
    expect(found).toEqual(expected);
  });

  it("that are no groups are 400, each with what is wrong", async () => {
    const caller = await tasks();
    const deep = "[$not]".repeat(6);
    const many = Array.from({ length: 51 }, (_, i) => `filter[$or][${i}][id][eq]=1`).join("&");
    for (const [query, message] of [
      ["filter[$or][1][id][eq]=1", "$or: there is no group 0, and indexes count from 0 without gaps"],
      ["filter[$or][0][$and][1][id][eq]=1", "$and: there is no group 0"],
      ["filter[$or][id][eq]=1", "$or takes an index"],
      ["filter[$or][00][id][eq]=1", "$or takes an index"],
      ["filter[$or][0]=1", "a group needs comparisons"],
      ["filter[$not]=1", "a group needs comparisons"],
      ["filter[$not][0][id][eq]=1", "unknown parameter"],
      ["filter[$nor][0][id][eq]=1", "unknown parameter"],
      ["filter[id]=1", '"filter[id]": an operator is missing, as in filter[…][eq]'],
      ["filter[$or][0][id]=1", '"filter[$or][0][id]": an operator is missing, as in filter[…][eq]'],
      ["id=1", 'unknown parameter "id": rows are filtered by where[id]'],
      ["where[$or][0][id]=1", "unknown parameter"],
      ["filter[$not][id][eq]=1&filter[$not][id][eq]=2", "is given twice"],
      ["filter[$not][secret][eq]=1", 'unknown column "secret"'],
      ["filter[$not][nothing][eq]=1", 'unknown column "nothing"'],
      ["filter[$or][0][id][eq]=x", "id: expected"],
      ["filter[$or][0][j][eq]=1", "json column"],
      ["filter[flags][icontains]=1", "icontains is for text columns"],
      ["filter[author][not_in]=[null]", "not_in takes no null"],
      [`filter${deep}[id][eq]=1`, "filters nest 5 deep at most"],
      [many, "more than 50 filters"],
    ] as const) {
      const answer = await caller.get(`/api/tasks?${query}`);
      expectRefusal(answer, 400, "bad_request");
      expect(answer.text, query).toContain(JSON.stringify(message).slice(1, -1));
    }
    for (const name of ["secret", "nothing"]) {
      const message = expectRefusal(await caller.get(`/api/tasks?${name}=1`), 400, "bad_request");
      expect(message).toBe(`unknown parameter "${name}"`);
    }
  });

  it("that say the same in another order, or in `where` beside a group, are taken", async () => {
    const caller = await tasks();
    const page = await caller.get("/api/tasks?where[status]=open&filter[$or][0][status][eq]=open&select=id");
    expect(dataOf(page)).toEqual([{ id: 1 }, { id: 3 }]);
  });
});

describe("total=none", () => {
  const walk = async (query: string) => {
    const caller = await tasks();
    const [ids, totals, read]: [number[], unknown[], number[]] = [[], [], []];
    let parameters: string | null = query;
    while (parameters !== null) {
      const page = await caller.get(`/api/tasks?${parameters}`);
      ids.push(...dataOf<{ id: number }[]>(page).map(({ id }) => id));
      const meta = metaOf(page) as { total: number | null; next_cursor?: string; rows_read: number };
      totals.push(meta.total);
      read.push(meta.rows_read);
      parameters = meta.next_cursor === undefined ? null : `cursor=${meta.next_cursor}`;
    }
    return { ids, totals: [...new Set(totals)], read };
  };

  it("counts nothing, on no page, and finds the same rows", async () => {
    const filter = "filter[flags][gte]=0&select=id&limit=1";
    const exact = await walk(filter);
    const none = await walk(`${filter}&total=none`);
    expect(none.totals).toEqual([null]);
    expect(none.ids).toEqual([1, 2, 3, 5]);
    expect(none.ids).toEqual(exact.ids);
    expect(none.read[0]).toBeLessThan(exact.read[0]!);
  });

  it.each([0, 1, 3, 4, 5, 6])("leaves out the rows of an offset of %d, past the scan limit too", async (offset) => {
    for (const sort of ["id", "-id"]) {
      const query = `filter[flags][gte]=0&select=id&limit=2&sort=${sort}&offset=${offset}`;
      const none = await walk(`${query}&total=none`);
      expect([sort, none.ids]).toEqual([sort, (await walk(query)).ids]);
      expect(none.totals).toEqual([null]);
    }
  });

  it("is exact or none", async () => {
    expectRefusal(await (await tasks()).get("/api/tasks?total=some"), 400, "bad_request");
  });
});
