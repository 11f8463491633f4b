import { expect, test } from "vitest";
import { dottedPath, stepsOf } from "../../src/problems/dotted-path.js";

test.each([
  [[], ""],
  [["auth", "throttle"], "auth.throttle"],
  [["$origins", "0"], "$origins.0"],
  [["rules", "a.b", "read"], 'rules."a.b".read'],
  [[""], '""'],
  [["", "columns", ""], '"".columns.""'],
  [['a"b.', "\\", "c d"], '"a\\"b.".\\.c d'],
  [['\\"."', "x"], '"\\\\\\".\\"".x'],
  [["\u001b\n"], '"\\u001b\\n"'],
])("%j is the path %s, and back", (steps, path) => {
  expect(dottedPath(steps)).toBe(path);
  expect(stepsOf(path)).toEqual(steps);
});
