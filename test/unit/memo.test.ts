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
  expect(madeFor(new Memo(40, { keyLengthMax: 3 }), ["long", "long"])).toEqual(["long", "long"]);
  expect(madeFor(new Memo(0), ["a", "a", "", ""])).toEqual(["a", "a", "", ""]);
});

it("keeps no key of more than 8,192 characters unless it is told to", () => {
  const [kept, tooLong] = ["k".repeat(8_192), "l".repeat(8_193)];
  expect(madeFor(new Memo(100_000), [kept, kept, tooLong, tooLong])).toEqual([kept, tooLong, tooLong]);
});

it("forgets sooner what weighs more, and keeps nothing that weighs more than half of all", () => {
  const weigh = (_: string, value: string) => value.length;
  const memo = new Memo<string>(20, { weigh });
  memo.set("a", "12345");
  memo.set("b", "12345");
  memo.set("c", "12345");
  expect([memo.find("a"), memo.find("b"), memo.find("c")]).toEqual(["12345", "12345", "12345"]);
  memo.set("d", "1234567890");
  memo.set("e", "1234567890");
  expect([memo.find("a"), memo.find("b"), memo.find("c")]).toEqual([undefined, undefined, undefined]);
  memo.set("f", "12345678901");
  expect(memo.find("f")).toBeUndefined();
  expect(memo.find("e")).toBe("1234567890");
});

it("gives back the room of what is deleted or set anew", () => {
  const memo = new Memo<string>(20, { weigh: (_, value) => value.length });
  memo.set("a", "1234567");
  for (const value of ["12", "123", "12", "123"]) memo.set("b", value);
  memo.delete("b");
  memo.set("c", "123");
  memo.set("d", "1");
  expect([memo.find("a"), memo.find("c"), memo.find("d")]).toEqual(["1234567", "123", "1"]);
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
