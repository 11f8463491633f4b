import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { subjects } from "../quick/subjects.js";

const files = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.ts"));

test.each(Object.entries(subjects))("npm run quick -- %s has tests", (_, paths) => {
  const without = paths.filter((path) => !files.some((file) => file.startsWith(path)));
  expect(without).toEqual([]);
});

test("every folder of the conformance suite is in a subject", () => {
  const all = Object.values(subjects).flat();
  const folders = new Set(files.flatMap((file) => /^conformance\/[\w-]+/.exec(file) ?? []));
  const left = [...folders].filter((folder) => !all.some((path) => path.startsWith(folder)));
  // What is left is about a whole project: these run with `npm test`.
  expect(left.sort()).toEqual(["conformance/tracker", "conformance/upgrade"]);
});
