import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, run } from "../../support/people.js";
import { apiKey, onD1, serve } from "../../support/server.js";

/** docs/reference/http.md: column types and their JSON, both ways. */
const project = {
  schema: `
samples:
  columns:
    id: { type: integer, primary_key: true }
    i: { type: integer }
    r: { type: real }
    t: { type: text }
    b: { type: boolean }
    j: { type: json }
    x: { type: blob }
`,
  config: "usage.enabled = false",
};

async function samples() {
  const server = await serve(project);
  return { server, key: client(server, await apiKey(server, "project:backend")) };
}

const empty = { id: 1, i: null, r: null, t: null, b: null, j: null, x: null };

const values: Readonly<Record<string, readonly unknown[]>> = {
  i: [
    0,
    -1,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    "9007199254740992",
    "-9007199254740992",
    "9223372036854775807",
    "-9223372036854775808",
  ],
  r: [0, 1, 0.1 + 0.2, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 1e21, 2 ** 53 + 2],
  t: ["", "a", "0", "1.0", "é😀 漢字", 'quote " and \\ back', "tab\tnewline\n\u2028\u0001\u007f", "null", "{}"],
  b: [true, false],
  j: [
    {},
    [],
    0,
    -1.5,
    "",
    "text",
    true,
    false,
    [null],
    { a: null, b: [1, { c: [null, "é\n"] }] },
    { "": 0, "a.b": 1, 'q"': 2, __proto__x: 3 },
    [[[[[[[[]]]]]]]],
  ],
  x: ["", "AA==", "AAEC/f7/", "////"],
};

const cases = Object.entries(values).flatMap(([column, list]) => list.map((value) => [column, value] as const));

describe("a value goes in and comes out the same", () => {
  it.each(cases)("%s: %j", async (column, value) => {
    const { key } = await samples();
    const row = { ...empty, [column]: value };
    expectAnswer(await key.post("/api/samples", { [column]: value }), 201, { data: row });
    expectAnswer(await key.get("/api/samples/1"), 200, { data: row });
    expectAnswer(await key.get("/api/samples"), 200, {
      data: [row],
      meta: { limit: 50, offset: 0, total: 1 },
    });
    expectAnswer(await key.patch("/api/samples/1", { [column]: null }), 200, { data: empty });
    expectAnswer(await key.patch("/api/samples/1", { [column]: value }), 200, { data: row });
  });

  it.each(cases.filter(([column, value]) => column !== "j" && value !== ""))(
    "a filter finds %s: %j",
    async (column, value) => {
      const { key } = await samples();
      await key.post("/api/samples", { [column]: value });
      await key.post("/api/samples", {});
      const found = await key.get(`/api/samples?where[${column}]=${encodeURIComponent(String(value))}`);
      expect(dataOf(found)).toEqual([{ ...empty, [column]: value }]);
    },
  );

  it("minus zero is zero", async () => {
    const { key } = await samples();
    const sent = await key.send("POST", "/api/samples", {
      headers: { "Content-Type": "application/json" },
      body: '{"i":-0,"r":-0.0}',
    });
    expect(dataOf<{ i: number; r: number }>(sent)).toMatchObject({ i: 0, r: expect.closeTo(0) });
    expect(sent.text).not.toContain("null,null,null,null,null");
  });

  it("keeps every double exactly", async () => {
    const { server, key } = await samples();
    const view = new DataView(new ArrayBuffer(8));
    // A fixed sequence (Weyl), so that a failure can be repeated.
    const doubles = Array.from({ length: 1000 }, (_, n) => {
      view.setBigUint64(0, BigInt.asUintN(64, BigInt(n + 1) * 0x9e3779b97f4a7c15n));
      return view.getFloat64(0);
    })
      .filter(Number.isFinite)
      // D1 writes the last digit of others wrong.
      .filter((r) => !onD1 || (Math.abs(r) > 1e-80 && Math.abs(r) < 1e80));
    const statements = doubles.map((r, id) => ({
      sql: "INSERT INTO samples (id, r) VALUES (?, ?)",
      params: [BigInt(id), r],
    }));
    for (let at = 0; at < statements.length; at += 100) await server.database.batch(statements.slice(at, at + 100));
    const listed = dataOf<{ r: number }[]>(await key.get("/api/samples?select=r&limit=1000"));
    expect(listed.map(({ r }) => r)).toEqual(doubles);
    for (const r of doubles.slice(0, 25)) {
      const list = encodeURIComponent(JSON.stringify([r]));
      expect(dataOf(await key.get(`/api/samples?select=r&filter[r][in]=${list}`))).toEqual([{ r }]);
    }
  });

  it("reads integers beyond 2^53 that another program wrote", async () => {
    const { server, key } = await samples();
    await run(server, "INSERT INTO samples (id, i) VALUES (1, 9007199254740993)");
    expectAnswer(await key.get("/api/samples/1"), 200, { data: { ...empty, i: "9007199254740993" } });
  });
});

const wrong: Readonly<Record<string, readonly unknown[]>> = {
  i: ["1", "", "0x1", 1.5, true, [], {}, "9223372036854775808", "-9223372036854775809", "9007199254740991", " 1"],
  r: ["1", "1.5", "", true, [], {}, "NaN"],
  t: [1, 0, 1.5, true, [], {}],
  b: [0, 1, "true", "false", "", [], {}],
  x: [1, true, [], {}, "A", "AA", "AA=", "AB==", "A A=", "-_8=", "AAEC\n"],
};

describe("a value of another JSON type is refused, never coerced", () => {
  it.each(Object.entries(wrong).flatMap(([column, list]) => list.map((value) => [column, value] as const)))(
    "%s: %j",
    async (column, value) => {
      const { server, key } = await samples();
      expectRefusal(await key.post("/api/samples", { [column]: value }), 400, "bad_request", [column]);
      expect(await countOf(server, "samples")).toBe(0);
      await key.post("/api/samples", {});
      expectRefusal(await key.patch("/api/samples/1", { [column]: value }), 400, "bad_request", [column]);
      expectAnswer(await key.get("/api/samples/1"), 200, { data: empty });
    },
  );
});
