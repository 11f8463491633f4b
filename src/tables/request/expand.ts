import { quoted } from "../../http/query-string.js";
import { badRequest, type Refusal } from "../../http/refusal.js";
import { expandOptions } from "../../wire/list-query.js";
import { BodyValue, QueryValue, type RequestValue } from "./request-value.js";

/**
 * The expansions that a list request asks for by `expand` (`docs/reference/http.md#expand`), as they were sent: the
 * names in them are not resolved to tables and columns yet. A map from each path to its options, which are a map from
 * the option's name to its value.
 */
export type RequestedExpansions = Map<string, Map<string, RequestValue>>;

const options: readonly string[] = expandOptions;

/** Whether the name of a parameter or of a member of the body belongs to `expand`. */
export function isExpansion(name: string): boolean {
  return name === "expand" || name.startsWith("expand[");
}

/**
 * Adds what a parameter `expand=…` or `expand[…][…]` of a query string asks for. Returns a refusal where the parameter
 * is neither, has an unknown option or names a path twice; else null.
 */
export function addQueryExpansion(asked: RequestedExpansions, parameter: string, text: string): Refusal | null {
  if (parameter === "expand") return addPaths(asked, text.split(","));
  const [, path, option] = /^expand\[([^[\]]*)\]\[([^[\]]*)\]$/.exec(parameter) ?? [];
  if (path === undefined || !options.includes(option!)) return badRequest(`unknown parameter ${quoted(parameter)}`);
  optionsOf(asked, path).set(option!, new QueryValue(text));
  return null;
}

function addPaths(asked: RequestedExpansions, paths: readonly string[]): Refusal | null {
  for (const [i, path] of paths.entries()) {
    if (paths.indexOf(path) < i) return badRequest(`expand: ${quoted(path)} is named twice`);
    optionsOf(asked, path);
  }
  return null;
}

/**
 * Adds what the member `expand` of a JSON body asks for: an object with an object of options for each path. Returns a
 * refusal where the member is not such a one; else null.
 */
export function addBodyExpansions(asked: RequestedExpansions, member: string, value: unknown): Refusal | null {
  if (member !== "expand") return badRequest(`unknown member ${quoted(member)}`);
  if (!isObject(value)) return badRequest("expand: expected an object");
  for (const [path, given] of Object.entries(value)) {
    if (!isObject(given)) return badRequest(`expand: ${quoted(path)}: expected an object`);
    const into = optionsOf(asked, path);
    for (const [option, operand] of Object.entries(given)) {
      if (!options.includes(option)) return badRequest(`expand: unknown option ${quoted(option)}`);
      into.set(option, new BodyValue(operand));
    }
  }
  return null;
}

function optionsOf(asked: RequestedExpansions, path: string): Map<string, RequestValue> {
  const known = asked.get(path);
  if (known !== undefined) return known;
  const made = new Map<string, RequestValue>();
  asked.set(path, made);
  return made;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
