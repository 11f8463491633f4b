import { expect, test } from "vitest";
import { circles } from "../house/circles.js";
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
