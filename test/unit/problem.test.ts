import { expect, test } from "vitest";
import { pointAt } from "../../src/problems/point-at.js";
import { formatProblem, shown } from "../../src/problems/problem.js";

test("no control character of a file is printed but the line breaks and tabs that show a place", () => {
  const place = pointAt("a = \u001b[2J\tb", { line: 1, column: 10 });
  const problem = { file: "svc.toml", line: 3, path: "a\u001b\n", message: `no \u009b\u007f\r\n${place}` };
  expect(formatProblem(problem)).toBe(
    ["svc.toml:3: a\\u001b\\u000a: no \\u009b\\u007f\\u000d", "    a = \\u001b[2J\tb", `    ${" ".repeat(13)}\t^`].join(
      "\n",
    ),
  );
});

test("what is quoted of a file is one line, and short", () => {
  expect(shown("a\nb\tc")).toBe("a\\u000ab\\u0009c");
  expect(shown("x".repeat(100))).toBe("x".repeat(100));
  expect(shown("x".repeat(101))).toBe(`${"x".repeat(100)}…`);
  const path = Array.from({ length: 1000 }, () => "a").join(".");
  expect(formatProblem({ file: "f", path, message: "m" })).toBe(`f: ${path.slice(0, 200)}…: m`);
});
