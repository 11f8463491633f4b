import { describe, expect, it } from "vitest";
import { adoptedWith } from "../../support/adopted.js";
import { dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";

/** What SQL of the owner's, in the database, may do to a request. */

const notJson = "secret, and no JSON";
const leastInteger = "-9223372036854775808";

describe("SQL of the owner's that cannot be evaluated", () => {
  it("refuses the write that it was to judge, says nothing of what it holds, and harms no reading", async () => {
    const value = "json_extract(meta, '$.v')";
    const columns = "id INTEGER PRIMARY KEY, meta TEXT, n INTEGER";
    const { server, key } = await adoptedWith(
      "",
      `CREATE TABLE checked (${columns}, CHECK (${value} > 0), CHECK (abs(n) >= 0))`,
      `CREATE TABLE stored (${columns}, v AS (${value}) STORED)`,
      `CREATE TABLE computed (${columns})`,
      `INSERT INTO computed (id, meta, n) VALUES (1, 'x', ${leastInteger})`,
      `ALTER TABLE computed ADD COLUMN v AS (${value})`,
      "ALTER TABLE computed ADD COLUMN w AS (abs(n))",
      `CREATE TABLE partial (${columns})`,
      `CREATE INDEX partial_index ON partial (id) WHERE ${value} > 0`,
      `CREATE TABLE indexed (${columns})`,
      `CREATE INDEX indexed_index ON indexed (${value}, abs(n))`,
      `CREATE TABLE watched (${columns})`,
      `CREATE TRIGGER watcher AFTER UPDATE ON watched BEGIN SELECT json_extract(new.meta, '$.v'), abs(new.n); END`,
      `CREATE TRIGGER adder AFTER INSERT ON watched BEGIN SELECT json_extract(new.meta, '$.v'), abs(new.n); END`,
    );
    const tables = ["checked", "stored", "partial", "indexed", "watched"];
    for (const table of tables) {
      expectAnswer(await key.post(`/api/${table}`, { id: 1, meta: '{"v":1}' }), 201, expect.anything());
      const writes = [
        await key.post(`/api/${table}`, { id: 2, meta: notJson }),
        await key.patch(`/api/${table}/1`, { meta: notJson }),
        ...(table === "stored" || table === "partial"
          ? []
          : [
              await key.post(`/api/${table}`, { id: 2, n: leastInteger }),
              await key.patch(`/api/${table}/1`, { n: leastInteger }),
            ]),
      ];
      for (const answer of writes)
        expect(expectRefusal(answer, 400, "bad_request"), table).toBe(
          "SQL of the table, such as a check or a trigger, cannot be evaluated with these values",
        );
      expect(await rowsOf(server, `SELECT id, meta, n FROM ${table}`)).toEqual([[1, '{"v":1}', null]]);
    }
    // What was raised is known to those who run the server alone, and is no failure of theirs.
    expect(server.log.lines).toEqual([]);
    // A column that is computed when it is read is not in the file, and nobody computes it.
    const row = { id: 1, meta: "x", n: leastInteger };
    expect(dataOf(await key.get("/api/computed/1"))).toEqual(row);
    expect(dataOf(await key.get("/api/computed?sort=-meta&where[meta]=x"))).toEqual([row]);
    // A statement that is wrong by itself is the server's failure, whatever SQL the table has.
    await run(server, "ALTER TABLE checked RENAME COLUMN meta TO renamed");
    expectRefusal(await key.post("/api/checked", { id: 2, meta: '{"v":1}', n: 1 }), 500, "internal");
    expect(server.log.lines).toHaveLength(1);
  });
});
