import * as v from "valibot";
import { isPlainObject, pathsOf } from "./valibot-problems.js";

type Path = readonly string[];

/**
 * What the schema makes of a value when everything in it that has a problem is left out, so that the rest can be judged
 * too; null where nothing sound is left. A map goes with a key that it has to have, and a list with each of its items, so
 * that no item gets the place of another.
 */
export function soundPart<const S extends v.GenericSchema>(
  schema: S,
  value: unknown,
): v.InferOutput<S> | null {
  for (let left = value; ; ) {
    const result = v.safeParse(schema, left);
    if (result.success) return result.output;
    const fewer = without(left, pathsOf(result.issues));
    if (fewer === nothing) return null;
    left = fewer;
  }
}

const nothing: unique symbol = Symbol();

/** The value without what is at the paths. */
function without(value: unknown, paths: readonly Path[]): unknown {
  if (!isPlainObject(value) || paths.some(([key]) => key === undefined || !Object.hasOwn(value, key)))
    return nothing;
  const left = Object.entries(value).flatMap(([key, item]) => {
    const below = paths.filter(([first]) => first === key).map(([, ...rest]) => rest);
    const kept = below.length === 0 ? item : without(item, below);
    return kept === nothing ? [] : [[key, kept] as const];
  });
  return Object.fromEntries(left);
}
