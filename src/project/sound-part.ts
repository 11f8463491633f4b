import * as v from "valibot";
import { isPlainObject, pathsOf } from "./valibot-problems.js";

type Path = readonly string[];

/**
 * Parses a value without its parts that have problems, so that the rest can still be checked. Null if nothing is left.
 * A map without a required key is removed as a whole. So is a list with a problem in any item, because its other items
 * would get other indexes.
 */
export function soundPart<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> | null {
  for (let left = value; ; ) {
    const result = v.safeParse(schema, left);
    if (result.success) return result.output;
    const fewer = without(left, pathsOf(result.issues));
    if (fewer === nothing) return null;
    left = fewer;
  }
}

const nothing: unique symbol = Symbol();

/**
 * The value without the parts at the given paths. `nothing` if a path leads to the value itself, or begins with
 * something that is no key of a map (a missing key, or an index of a list).
 */
function without(value: unknown, paths: readonly Path[]): unknown {
  if (!isPlainObject(value) || paths.some(([key]) => key === undefined || !Object.hasOwn(value, key))) return nothing;
  const byKey = new Map<string, Path[]>();
  for (const [key, ...rest] of paths) {
    const below = byKey.get(key!) ?? [];
    byKey.set(key!, below);
    below.push(rest);
  }
  const left = Object.entries(value).flatMap(([key, item]) => {
    const below = byKey.get(key);
    const kept = below === undefined ? item : without(item, below);
    return kept === nothing ? [] : [[key, kept] as const];
  });
  return Object.fromEntries(left);
}
