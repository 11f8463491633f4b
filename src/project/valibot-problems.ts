import * as v from "valibot";
import { didYouMean, meantOrKnown } from "../problems/did-you-mean.js";
import { dottedPath } from "../problems/dotted-path.js";
import { type Problem, shown } from "../problems/problem.js";

/** Valibot's issues as problems of a file: `auth.cookie_secure: expected boolean, got "yes"`. */
export function valibotProblems(file: string, issues: readonly v.BaseIssue<unknown>[]): Problem[] {
  return issues.flatMap(explained).map(({ path, message }) => {
    return { file, path: dottedPath(path.map(({ key }) => String(key))), message };
  });
}

/** The paths of the keys that are wrong, unknown or missing. */
export function pathsOf(issues: readonly v.BaseIssue<unknown>[]): string[][] {
  return issues.flatMap(explained).map(({ path }) => path.map(({ key }) => String(key)));
}

/**
 * A map with known keys, for valibot. The message about an unknown key suggests a known one, and the message about a
 * missing key says what it has to be. For that, valibot's issues carry `entries`, the known keys, in `requirement`.
 */
export function mapWith<const E extends v.ObjectEntries>(entries: E) {
  const known = Object.assign(v.strictObject(entries), { requirement: entries });
  // `strictObject` alone would accept a list, as a map with indexes as keys.
  const isMap = v.custom<Record<string, unknown>>(isPlainObject, "expected a map");
  return Object.assign(v.pipe(isMap, known), { entries });
}

/**
 * A map with names that the owner chooses, for valibot. Unlike `v.record` it keeps keys such as `constructor`, which
 * are valid names of tables and columns.
 */
export function mapOf<const S extends v.GenericSchema>(item: S) {
  return v.pipe(
    v.custom<Record<string, unknown>>(isPlainObject, "expected a map of names"),
    v.rawTransform<Record<string, unknown>, ReadonlyMap<string, v.InferOutput<S>>>(({ dataset, addIssue }) => {
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
        for (const { path, message } of (result.issues ?? []).flatMap(explained))
          addIssue({ message, expected: inWords, path: [step, ...(path as [])] });
      }
      return entries;
    }),
  );
}

/** Whether the value is a map, and not a list, date, bytes or set, which parsers of YAML and TOML also make. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

interface Explained {
  readonly path: readonly v.IssuePathItem[];
  readonly message: string;
}

/** Issues with this `expected`, such as those of `mapOf`, have a complete message already. */
const inWords = "in words";

function explained(issue: v.BaseIssue<unknown>): Explained[] {
  const { path = [], expected, message } = issue;
  const of = path.at(-1);
  if (expected === inWords) return [{ path, message }];
  if (issue.type !== "strict_object" || issue.requirement === undefined || of === undefined)
    return [{ path, message: messageOf(issue) }];
  const known = issue.requirement as v.ObjectEntries;
  if (expected === "never")
    return unknownKeys(of.input as object, known).map(({ key, message }) => {
      return { path: [...path.slice(0, -1), { ...of, key } as v.IssuePathItem], message };
    });
  const missing = expected === `"${of.key}"` ? known[of.key as string] : undefined;
  if (missing === undefined) return [{ path, message: messageOf(issue) }];
  const needed = missing.expects === "unknown" ? "Object" : missing.expects;
  return [{ path, message: `missing, expected ${expectation(needed)}` }];
}

function unknownKeys(input: object, known: v.ObjectEntries): { key: string; message: string }[] {
  const unknown = Object.keys(input).filter((key) => !Object.hasOwn(known, key));
  return unknown.map((key) => ({
    key,
    message: `unknown key${meantOrKnown(key, Object.keys(known))}`,
  }));
}

function messageOf(issue: v.BaseIssue<unknown>): string {
  const { message, received, expected } = issue;
  if (issue.type === "strict_object" && expected === "never") return "unknown key";
  if (received === "undefined") return "missing";
  return message.startsWith("Invalid ")
    ? `expected ${expectation(expected)}, got ${found(issue)}`
    : `${message}, got ${found(issue)}`;
}

/** Names of types in other databases, with the type of svc.schema.yaml that a message suggests. */
const synonyms: Readonly<Record<string, string>> = {
  int: "integer",
  bigint: "integer",
  timestamp: "integer",
  datetime: "integer",
  string: "text",
  varchar: "text",
  uuid: "text",
  float: "real",
  number: "real",
  decimal: "real",
  bool: "boolean",
  jsonb: "json",
};

/** The wrong value as a message quotes it, with advice if only its spelling is wrong. */
function found({ expected, received, input }: v.BaseIssue<unknown>): string {
  if (isPlainObject(input)) return "a map";
  if (!received.startsWith('"')) return shown(expectation(received));
  const given = received.slice(1, -1);
  if ((expected === "boolean" && /^(true|false)$/.test(given)) || (expected === "number" && /^\d+$/.test(given)))
    return `${received}; write ${given} without quotes`;
  const options = [...(expected ?? "").matchAll(/"([^"]+)"/g)].map(([, option]) => option!);
  const quoted = `"${shown(given)}"`;
  const synonym = synonyms[/^\w*/.exec(given.toLowerCase())![0]];
  return synonym !== undefined && options.includes(synonym)
    ? `${quoted}; write ${synonym}`
    : quoted + didYouMean(given, options);
}

/** In words for a person: `("a" | "b")` becomes `"a" or "b"`, and `Object` becomes `a map`. */
function expectation(expected: string | null): string {
  return (expected ?? "something else")
    .replace(/^\((.*)\)$/, "$1")
    .replaceAll(" | ", " or ")
    .replace(/^Object$/, "a map")
    .replace(/^Array$/, "a list")
    .replace(/^TomlDate$/, "a date")
    .replace(/^(Buffer|Uint8Array)$/, "bytes");
}
