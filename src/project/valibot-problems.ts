import * as v from "valibot";
import type { Problem } from "./problem.js";

/** Valibot's issues in the one form that the owner reads: `auth.cookie_secure: expected boolean, got "yes"`. */
export function problemsOf(file: string, issues: readonly v.BaseIssue<unknown>[]): Problem[] {
  return issues.map((issue) => ({ file, path: pathOf(issue), message: messageOf(issue) }));
}

/**
 * A map from names of the owner's choice. Unlike `v.record` it keeps keys such as `constructor`, which are valid
 * names of tables and columns.
 */
export function mapOf<const S extends v.GenericSchema>(item: S) {
  return v.pipe(
    v.custom<Record<string, unknown>>(isPlainObject, "expected a table of names"),
    v.rawTransform<Record<string, unknown>, ReadonlyMap<string, v.InferOutput<S>>>(
      ({ dataset, addIssue }) => {
        const entries = new Map<string, v.InferOutput<S>>();
        for (const [key, value] of Object.entries(dataset.value)) {
          const step = {
            type: "object" as const,
            origin: "value" as const,
            input: dataset.value,
            key,
            value,
          };
          const result = v.safeParse(item, value);
          if (result.success) entries.set(key, result.output);
          for (const { message, input, expected, path, type } of result.issues ?? [])
            addIssue({
              message: type === "strict_object" && expected === "never" ? "unknown key" : message,
              input,
              path: [step, ...((path ?? []) as [])],
              ...(expected === null ? {} : { expected }),
            });
        }
        return entries;
      },
    ),
  );
}

function isPlainObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pathOf(issue: v.BaseIssue<unknown>): string {
  return (issue.path ?? []).map((item) => String(item.key)).join(".");
}

function messageOf(issue: v.BaseIssue<unknown>): string {
  if (issue.message === "unknown key") return issue.message;
  if (issue.type === "strict_object" && issue.expected === "never") return "unknown key";
  if (issue.received === "undefined") return "missing";
  const ours = !issue.message.startsWith("Invalid ");
  return ours
    ? `${issue.message}, got ${issue.received}`
    : `expected ${expectation(issue)}, got ${issue.received}`;
}

/** Valibot writes `("a" | "b")` and `Object`; a person reads `"a" or "b"` and `a map`. */
function expectation(issue: v.BaseIssue<unknown>): string {
  const text = issue.expected ?? "something else";
  return text
    .replace(/^\((.*)\)$/, "$1")
    .replaceAll(" | ", " or ")
    .replace(/^Object$/, "a map");
}
