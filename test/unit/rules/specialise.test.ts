import { describe, expect, test } from "vitest";
import type { AuthValues } from "../../../src/rules/ast.js";
import { specialise } from "../../../src/rules/specialise.js";
import { rule } from "./fixture.js";

const anonymous: AuthValues = { id: null, email: null, email_verified: null, role: null };
const ada: AuthValues = { id: "ada", email: "ada@example.com", email_verified: false, role: "admin" };
const now = 1_700_000_000;

describe("what is left for one caller", () => {
  test.each([
    ["authenticated", "public"],
    ["auth.email = 'ada@example.com'", "public"],
    ["auth.email_verified and row.owner_id = auth.id", "deny"],
    ["auth.email_verified or row.owner_id = auth.id", "row.owner_id = 'ada'"],
    ["row.published = auth.email_verified", "row.published = false"],
    ["row.owner_id = auth.id", "row.owner_id = 'ada'"],
    ["auth.role = 'admin' or row.owner_id = auth.id", "public"],
    ["auth.role = 'user' or row.owner_id = auth.id", "row.owner_id = 'ada'"],
    ["auth.role = 'user' and row.owner_id = auth.id", "deny"],
    ["auth.role = 'admin' and row.owner_id = auth.id", "row.owner_id = 'ada'"],
    ["row.id < now()", "row.id < 1700000000"],
    ["now() > 1", "public"],
    ["auth.id in (row.owner_id, 'x', null)", "'ada' in (row.owner_id)"],
    ["auth.id in ('x', 'ada')", "public"],
    ["auth.id not in ('x', row.owner_id)", "not 'ada' in (row.owner_id)"],
    ["auth.id not in ('x', 'y')", "public"],
    ["auth.id not in (null, row.owner_id)", "deny"],
    ["not (row.published and auth.role = 'admin')", "row.published != true"],
    ["not (row.published or row.id > 2 or auth.role = 'x')", "row.published != true and row.id <= 2"],
    ["not not row.published", "row.published"],
    ["not (row.id is null)", "row.id is not null"],
    ["row.id = 1 and (row.id = 2 and row.id = 3)", "row.id = 1 and row.id = 2 and row.id = 3"],
    ["row.id = 1 or (row.id = 2 or row.id = 3)", "row.id = 1 or row.id = 2 or row.id = 3"],
    ["exists(members m where m.user_id = auth.id and authenticated)", "exists(members m where m.user_id = 'ada')"],
    ["exists(members m where auth.role = 'x' and m.active)", "deny"],
    ["not exists(members m where auth.role = 'x' and m.active)", "public"],
    ["not exists(members m where not (m.level > 1))", "not exists(members m where m.level <= 1)"],
    ["exists(members m where public)", "exists(members m where true)"],
  ])("%s becomes %s", (text, result) => {
    expect(specialise(rule(text), ada, now)).toEqual(rule(result));
  });
});

describe("nothing matches what an anonymous caller has not, nor does its not", () => {
  test.each([
    ["row.owner_id = auth.id", "deny"],
    ["not (row.owner_id = auth.id)", "deny"],
    ["row.owner_id != auth.id", "deny"],
    ["auth.id = auth.id", "deny"],
    ["row.owner_id in (auth.id)", "deny"],
    ["row.owner_id not in (auth.id, 'x')", "deny"],
    ["row.owner_id in (auth.id, 'x')", "row.owner_id in ('x')"],
    ["auth.id in (row.owner_id)", "deny"],
    ["auth.id not in (row.owner_id)", "deny"],
    ["not (row.owner_id = auth.id and row.published)", "row.published != true"],
    ["not (row.owner_id = auth.id or row.published)", "deny"],
    ["exists(members m where m.user_id = auth.id)", "deny"],
    ["not exists(members m where m.user_id = auth.id)", "public"],
    ["authenticated", "deny"],
    ["not authenticated", "public"],
    ["auth.id is null and row.published", "row.published"],
  ])("%s becomes %s", (text, result) => {
    expect(specialise(rule(text), anonymous, now)).toEqual(rule(result));
  });
});

test("seconds are whole", () => {
  expect(specialise(rule("row.id = now()"), ada, 12.9)).toEqual(rule("row.id = 12"));
});

describe("constant conditions", () => {
  test.each([
    // SQLite: text by the bytes of its UTF-8, upper case before lower case
    ["'a' < 'b'", true],
    ["'B' < 'a'", true],
    ["'a' < 'aa'", true],
    ["'a' = 'A'", false],
    ["'\uffff' < '🙂'", true],
    ["'\ue000' < '🙂'", true],
    ["'🙂' < '🙃'", true],
    ["'ä' > 'z'", true],
    // an integer against a real by its exact value
    ["1 = 1.0", true],
    ["9007199254740993 = 9007199254740992.0", false],
    ["9007199254740993 > 9007199254740992.0", true],
    ["9223372036854775807 < 9223372036854775808.0", true],
    ["-0.0 = 0", true],
    ["1 <= 1 and 1 >= 1 and not 1 < 1 and not 1 > 1 and 1 != 2", true],
    ["true = true", true],
    ["true != false", true],
    ["true = false", false],
    ["1 in (2, 1.0)", true],
    ["1 in (2, null)", false],
    ["1 not in (2, null)", false],
    ["1 not in (2, 3)", true],
    ["null is null", true],
    ["1 is null", false],
    ["1 is not null", true],
    ["now() is null", false],
  ])("%s is %s", (text, value) => {
    expect(specialise(rule(text), anonymous, now)).toEqual({ kind: "literal", value });
  });
});

/** SQL's tables. Whether a result is FALSE or NULL shows in what its `not` admits. */
describe("three-valued logic", () => {
  const values = ["true", "false", "null"] as const;
  const admits = (text: string) => specialise(rule(text), anonymous, now);
  const outcome = (text: string) => [text, `not (${text})`].map((each) => (admits(each) as { value?: unknown }).value);
  const expected = { true: [true, false], false: [false, true], null: [false, false] };

  const and = {
    true: ["true", "false", "null"],
    false: ["false", "false", "false"],
    null: ["null", "false", "null"],
  } as const;
  const or = {
    true: ["true", "true", "true"],
    false: ["true", "false", "null"],
    null: ["true", "null", "null"],
  } as const;

  test.each(values.flatMap((left) => values.map((right, index) => [left, right, index] as const)))(
    "%s and / or %s",
    (left, right, index) => {
      expect(outcome(`${left} and ${right}`)).toEqual(expected[and[left][index]!]);
      expect(outcome(`${left} or ${right}`)).toEqual(expected[or[left][index]!]);
    },
  );

  test.each([
    ["true", "false"],
    ["false", "true"],
    ["null", "null"],
  ] as const)("not %s is %s", (term, result) => {
    expect(outcome(`not ${term}`)).toEqual(expected[result]);
  });

  test("null in a comparison is null", () => {
    for (const text of ["null = null", "1 = null", "null != 1", "null < 1", "null in (1)", "1 in (null)"]) {
      expect(outcome(text)).toEqual(expected.null);
    }
  });
});
