import { describe, expect, it } from "vitest";
import { whyOf } from "../../../src/console/screens/requests/why-of.js";
import { highlighted } from "../../../src/console/screens/why/highlight.js";
import { explainBody, questionOf } from "../../../src/console/screens/why/question.js";
import { termOutcome } from "../../../src/console/screens/why/term-outcome.js";
import { asHeader, asMember, asText, parseAs } from "../../../src/console/server/as.js";
import type { ExplainedTerm } from "../../../src/wire/explanation.js";
import type { SchemaTable } from "../../../src/wire/schema-in-force.js";

const path = "rules.notes.update";
const term = (
  text: string,
  line: number | null,
  column: number | null,
  more: Partial<ExplainedTerm> = {},
): ExplainedTerm => ({
  kind: "term",
  text,
  line,
  column,
  path,
  truth: true,
  ...more,
});

describe("a rule's text", () => {
  const pieces = (text: string, terms: readonly ExplainedTerm[], line: number | null = 4, column: number | null = 11) =>
    highlighted({ path, text, line, column }, terms).map(({ text: piece, term: of }) => [piece, of?.truth]);

  it("is cut into its terms, each with what it comes out as", () => {
    const text = "row.a = 1 and not row.b";
    expect(pieces(text, [term("row.a = 1", 4, 11), term("row.b", 4, 29, { truth: null })])).toEqual([
      ["row.a = 1", true],
      [" and not ", undefined],
      ["row.b", null],
    ]);
  });

  it("shows the innermost of terms that hold each other", () => {
    const inner = term("b", 4, 16, { truth: false });
    expect(pieces("a or b", [inner, term("a or b", 4, 11)])).toEqual([
      ["a or ", true],
      ["b", false],
    ]);
  });

  it("may have several lines, and terms that are written twice", () => {
    const text = "row.a = 1\n  and row.a = 1";
    expect(pieces(text, [term("row.a = 1", 5, 7, { truth: false })])).toEqual([
      ["row.a = 1\n  and ", undefined],
      ["row.a = 1", false],
    ]);
  });

  it("is searched where its places are those of escapes, or unknown", () => {
    expect(pieces("row.a = 'é' and row.b", [term("row.b", 4, 40)])).toEqual([
      ["row.a = 'é' and ", undefined],
      ["row.b", true],
    ]);
    expect(pieces("deny", [term("deny", null, null, { truth: false })], null, null)).toEqual([["deny", false]]);
  });

  it("leaves out terms of other texts, and those that are not where they say", () => {
    const other = term("row.a", 4, 11, { path: "conditions.mine()" });
    expect(pieces("row.a = row.a", [other, term("row.a", 9, 1)])).toEqual([["row.a = row.a", undefined]]);
  });
});

it("a term of a list is of all rows, of none or of some", () => {
  const counted = (counts: ExplainedTerm["counts"]) =>
    termOutcome(term("a", 1, 1, { truth: null, ...(counts && { counts }) }));
  expect(counted({ true: 3, false: 0, null: 0 })).toBe("true");
  expect(counted({ true: 0, false: 2, null: 0 })).toBe("false");
  expect(counted({ true: 1, false: 2, null: 0 })).toBe("some");
  expect(counted({ true: 0, false: 0, null: 0 })).toBe("unfinished");
  expect(counted(undefined)).toBe("null");
  expect(termOutcome(term("a", 1, 1, { unfinished: true }))).toBe("unfinished");
});

describe("a question", () => {
  const shape = {
    name: "notes",
    primary_key: ["id", "lang"],
    columns: [
      { name: "id", type: "integer" },
      { name: "lang", type: "text" },
    ],
  } as unknown as SchemaTable;
  const question = { table: "notes", action: "read", key: {}, values: "" } as const;

  it("is sent in the types of its columns", () => {
    expect(explainBody(question, shape)).toEqual({ body: { action: "read", table: "notes" } });
    expect(explainBody({ ...question, key: { id: "7", lang: "en" } }, shape)).toEqual({
      body: { action: "read", table: "notes", key: { id: 7, lang: "en" } },
    });
    expect(explainBody({ ...question, action: "create", key: { id: "7" }, values: '{"id": 1}' }, shape)).toEqual({
      body: { action: "create", table: "notes", values: { id: 1 } },
    });
  });

  it("is not sent before it is whole", () => {
    expect(explainBody({ ...question, key: { id: "x", lang: "" } }, shape)).toEqual({
      wrong: "key",
      column: "id",
    });
    expect(explainBody({ ...question, key: { id: "7" } }, shape)).toEqual({ wrong: "key", column: "lang" });
    expect(explainBody({ ...question, action: "delete" }, shape)).toEqual({ missing: "row" });
    const row = { id: "7", lang: "en" };
    expect(explainBody({ ...question, action: "update", key: row }, shape)).toEqual({ missing: "values" });
    expect(explainBody({ ...question, action: "update", key: row, values: "[1]" }, shape)).toEqual({
      wrong: "values",
      column: null,
    });
  });

  it("is read from an address, whatever that holds", () => {
    const read = (text: string) => questionOf(new URLSearchParams(text), [shape]);
    expect(read('table=notes&action=update&key={"id":7}&values={}')).toEqual({
      table: "notes",
      action: "update",
      key: { id: "7" },
      values: "{}",
    });
    expect(read("table=gone&action=steal&key={")).toEqual(question);
    expect(read("key=null").key).toEqual({});
  });
});

describe("a refusal", () => {
  const asked = {
    id: "1",
    at: "2026-01-31T12:00:00.000Z",
    method: "PATCH",
    route: "/api/:table/:id",
    status: 403,
    ms: 1,
    principal: { kind: "user" as const, id: "7f3a" },
    rows_read: 0,
    rows_written: 0,
    rows_returned: 0,
    rule: "rules.messages.update",
  };

  it("leads to its explanation where a rule has refused", () => {
    expect(whyOf(asked)).toEqual({ table: "messages", action: "update", as: "user:7f3a" });
    expect(whyOf({ ...asked, rule: "rules.messages.columns.flags.write" })).toMatchObject({
      action: "update",
    });
    expect(whyOf({ ...asked, status: 401, principal: { kind: "anonymous", id: null } })).toMatchObject({
      as: "anonymous",
    });
    expect(whyOf({ ...asked, rule: null })).toBeNull();
    expect(whyOf({ ...asked, status: 200 })).toBeNull();
  });
});

it("callers are named in headers, bodies and addresses alike", () => {
  const ada = { kind: "user", id: "7f3a", label: "ada@example.com" } as const;
  const nobody = { kind: "anonymous", id: "", label: "Anonymous" } as const;
  expect([asHeader(ada), asMember(ada)]).toEqual(["user:7f3a", { user: "7f3a" }]);
  expect([asHeader(nobody), asMember(nobody)]).toEqual(["anonymous", { anonymous: true }]);
  expect(asHeader({ ...ada, id: "a b\n" })).toBe("user:a%20b%0A");
  expect(asText({ ...ada, id: "a b" })).toBe("user:a b");
  expect(parseAs("user:7f3a", "")).toEqual({ ...ada, label: "7f3a" });
  expect(parseAs("anonymous", "Anonymous")).toEqual(nobody);
  expect(parseAs("root", "")).toBeNull();
});
