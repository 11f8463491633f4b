import { expect, test } from "vitest";
import { circles } from "../house/circles.js";
import { unreadExports } from "../house/reads.js";
import { folderCircles, roomGraph } from "../house/rooms.js";
import { parseSource } from "../house/source.js";

const text = `import { a } from "./a.js";
import type { B } from "../b.js";
import { hono } from "hono";
export { c } from "./c.js";
/** Where it ends. */
// biome-ignore lint/rule/name: a reason
export function late(from: string): string;
export function late(from: number): string;
export function late(): string {
  return import("./d.js");
}
/* Not a docstring. */
export const short = () => a, { deep: [twice] } = hono;
export interface Shape {
  /** A name. */
  readonly name: B;
}
type Inner = string;
export type { Inner as Outer };
`;

test("a file: what it imports, what it declares and what of that has a docstring", () => {
  const { imports, declared, lines } = parseSource("auth/x.ts", text, () => true);
  expect(lines).toBe(19);
  expect(imports).toEqual(["auth/a.ts", "b.ts", "auth/c.ts", "auth/d.ts"]);
  expect(declared).toEqual([
    { name: "late", kind: "function", exported: true, documented: true, shape: "" },
    { name: "short", kind: "function", exported: true, documented: false, shape: "" },
    { name: "twice", kind: "const", exported: true, documented: false, shape: "" },
    { name: "Shape", kind: "type", exported: true, documented: false, shape: "{readonlyname:B;}" },
    { name: "Inner", kind: "type", exported: true, documented: false, shape: "=string;" },
  ]);
});

test("circles: what reaches everything else of its group", () => {
  const graph = { a: ["b"], b: ["c", "e"], c: ["a"], d: ["a", "d"], e: ["f"], f: ["e"], g: [] };
  expect(circles(new Map(Object.entries(graph)))).toEqual([
    ["a", "b", "c"],
    ["e", "f"],
  ]);
});

test("rooms of a folder: its subfolders and its files, each with the rooms that it imports", () => {
  const sources = [
    { path: "a/x.ts", imports: ["a/one/p.ts", "b/y.ts"] },
    { path: "a/one/p.ts", imports: ["a/two/q.ts", "a/one/r.ts"] },
    { path: "a/one/r.ts", imports: [] },
    { path: "a/two/q.ts", imports: ["a/one/r.ts"] },
    { path: "b/y.ts", imports: [] },
  ];
  expect(Object.fromEntries(roomGraph("a", sources))).toEqual({
    "x.ts": new Set(["one"]),
    one: new Set(["two"]),
    two: new Set(["one"]),
  });
  expect(folderCircles(sources)).toEqual(["a: one <-> two"]);
});

test("exports without a reader in src: those that tests read, and values that nobody reads", () => {
  const exists = () => true;
  const sources = [
    parseSource(
      "a.ts",
      "export const used = 1; export const tested = 2; export const left = 3; export type T = 4;",
      exists,
    ),
    parseSource("b.ts", 'import { used as mine } from "./a.js"; export const whole = mine;', exists),
    parseSource("c.tsx", 'import * as b from "./b.js";', exists),
    parseSource("public.ts", "export const taken = 1;", exists),
  ];
  const tests = [parseSource("test/a.test.ts", 'import { tested } from "../src/a.js";', exists)];
  expect(unreadExports(sources, tests, ["public.ts"])).toEqual({
    readByTestsAlone: ["a.ts tested"],
    readByNobody: ["a.ts left"],
  });
});
