import { expect, it } from "vitest";
import { hexToBase64, toBase64 } from "../../src/encoding/base64.js";
import { toHex } from "../../src/encoding/hex.js";
import { isRefusal } from "../../src/http/refusal.js";
import { parseStrictJson, parseStrictJsonInTurns } from "../../src/http/strict-json.js";
import { finishRows } from "../../src/tables/sql/finish-rows.js";
import { Random } from "./support/random.js";

/** The readers of JSON against JSON.parse. `SEED=…` repeats a run, `INPUTS` prolongs it. */
const seed = Random.seedOfRun();
const inputs = Number(process.env.INPUTS ?? 1_000);

const strings = [
  "",
  "a",
  "é",
  "🙂",
  '"',
  "\\",
  "\n",
  "\u007f",
  "\u2028",
  "__proto__",
  "constructor",
  "0",
  "12",
  "a,b:{}[]",
];
const scalars = [0, -0, 1, -17, 0.1, 1e21, 1e-7, Number.MAX_SAFE_INTEGER, true, false, null];

function jsonValue(random: Random, depth: number): unknown {
  const kind = random.int(0, depth === 0 ? 1 : 3);
  if (kind === 0) return random.pick(scalars);
  if (kind === 1) return random.times(random.int(0, 3), () => random.pick(strings)).join("");
  if (kind === 2) return random.times(random.int(0, 4), () => jsonValue(random, depth - 1));
  const members = random.times(random.int(0, 4), () => [random.pick(strings), jsonValue(random, depth - 1)] as const);
  return Object.fromEntries(members);
}

it("a body is parsed as JSON.parse does, at once and in turns, with whitespace and without", async () => {
  const random = new Random(seed);
  for (let i = 0; i < inputs; i++) {
    const value = jsonValue(random, 4);
    for (const space of ["", " ", "\t"]) {
      const text = `${space}${JSON.stringify(value, null, space)}${space}`;
      expect(parseStrictJson(text), text).toEqual({ value: JSON.parse(text) });
    }
  }
  const value = random.times(3_000, () => jsonValue(random, 3));
  const text = JSON.stringify(value);
  expect(await parseStrictJsonInTurns(text)).toEqual({ value: JSON.parse(text) });
});

it("a text that JSON.parse refuses is refused", () => {
  const random = new Random(seed);
  let refused = 0;
  for (let i = 0; i < inputs; i++) {
    const text = JSON.stringify(jsonValue(random, 3));
    const at = random.int(0, text.length);
    const broken = `${text.slice(0, at)}${random.pick(["", ",", "]", "}", '"', "0", "-", "\u0001", "\\", "tru"])}${text.slice(at + random.int(0, 2))}`;
    let isJson = true;
    try {
      JSON.parse(broken);
    } catch {
      isJson = false;
    }
    const parsed = parseStrictJson(broken);
    if (!isJson) expect(isRefusal(parsed), broken).toBe(true);
    if (!isJson) refused++;
  }
  expect(refused).toBeGreaterThan(inputs / 4);
});

it("rows are finished as their parsed values would be, and all other values are copied", async () => {
  const random = new Random(seed);
  const columns = [
    { name: "id", type: "integer" },
    { name: "r", type: "real" },
    { name: 'b"lob', type: "blob" },
    { name: "j", type: "json" },
    { name: "t", type: "text" },
  ] as never;
  for (let i = 0; i < inputs / 4; i++) {
    const rows = random.times(random.int(0, 5), () => {
      const bytes = Uint8Array.from(random.times(random.int(0, 20), () => random.int(0, 255)));
      const real = random.pick([0.1, -1e300, 5, 1 / 3]);
      const json = `{"n":12345678901234567890,"a":[1.0,${JSON.stringify(random.pick(strings))}]}`;
      const head = `{"id":1,"r":${real.toPrecision(17)},"b\\"lob":`;
      const tail = `,"j":${json},"t":${JSON.stringify(random.pick(strings))}}`;
      return {
        sql: `${head}"${toHex(bytes).toUpperCase()}"${tail}`,
        shown: `{"id":1,"r":${JSON.stringify(real)},"b\\"lob":"${toBase64(bytes)}"${tail}`,
      };
    });
    const text = `[${rows.map(({ sql }) => sql).join(",\n")}]`;
    expect(await finishRows(text, columns)).toBe(`[${rows.map(({ shown }) => shown).join(",\n")}]`);
  }
});

it("a long row is finished in several turns", async () => {
  const bytes = new Uint8Array(1_000_001).fill(7);
  const row = `{"t":"${"x".repeat(1_100_000)}","b":"${toHex(bytes)}","r":[1.5,2],"n":null}`;
  const columns = ["t", "b", "r", "n"].map((name, i) => ({ name, type: ["text", "blob", "real", "real"][i] })) as never;
  const finished = JSON.parse(await finishRows(`[${row},\n${row}]`, columns));
  expect(finished).toHaveLength(2);
  expect(finished[1].b === toBase64(bytes)).toBe(true);
  expect(finished[1]).toMatchObject({ r: 6, n: null });
  expect(hexToBase64("")).toBe("");
});
