import { expect, it } from "vitest";
import { Memo } from "../../src/platform/memo.js";

/** What a memo makes for these keys, in turn. */
function madeFor(memo: Memo<string>, keys: readonly (string | null)[]): string[] {
  const made: string[] = [];
  for (const key of keys)
    memo.get(key, () => {
      made.push(key ?? "null");
      return `of ${key}`;
    });
  return made;
}

it("makes a thing once, also one that is null", () => {
  const memo = new Memo<string | null>(4);
  let made = 0;
  const make = () => {
    made++;
    return null;
  };
  for (const key of ["a", "b", "c", "a"]) expect(memo.get(key, make)).toBeNull();
  expect(made).toBe(3);
});

it("keeps what was asked for since half of its room was filled by others", () => {
  const memo = new Memo<string>(4);
  expect(madeFor(memo, ["a", "b", "a", "c", "a", "d", "a"])).toEqual(["a", "b", "c", "d"]);
  expect(memo.get("a", () => "another")).toBe("of a");
});

it("forgets what nobody asks for", () => {
  const memo = new Memo<string>(4);
  const others = Array.from({ length: 20 }, (_, i) => String(i));
  expect(madeFor(memo, ["a", ...others, "a"])).toEqual(["a", ...others, "a"]);
});

it("keeps nothing without a key, under a long one, or without room", () => {
  expect(madeFor(new Memo(4), [null, null])).toEqual(["null", "null"]);
  expect(madeFor(new Memo(4, 3), ["long", "long"])).toEqual(["long", "long"]);
  expect(madeFor(new Memo(0), ["a", "a"])).toEqual(["a", "a"]);
});

it("finds what is set, until it is deleted, in either generation", () => {
  const memo = new Memo<string>(4);
  memo.set("a", "of a");
  expect(memo.find("a")).toBe("of a");
  for (const other of ["b", "c"]) memo.set(other, other);
  memo.set("a", "another");
  expect(memo.find("a")).toBe("another");
  memo.delete("a");
  memo.delete("b");
  expect([memo.find("a"), memo.find("b"), memo.find("c")]).toEqual([undefined, undefined, "c"]);
});

it("counts what is found as used", () => {
  const memo = new Memo<string>(4);
  memo.set("a", "of a");
  for (const other of ["b", "c", "d", "e", "f"]) {
    memo.set(other, other);
    expect(memo.find("a")).toBe("of a");
  }
  expect(memo.find("b")).toBeUndefined();
});
