import { signal } from "@preact/signals";
import type { ServedSchema } from "../../wire/schema-in-force.js";
import { ask } from "./ask.js";

/**
 * The schema in force; null before it is loaded. All screens share it, and it is loaded again after a change of the
 * schema.
 */
const schema = signal<ServedSchema | null>(null);

/** Loads the schema in force from the server, for all screens. */
export async function loadSchema(abort?: AbortSignal): Promise<ServedSchema> {
  const found = await ask<ServedSchema>("GET", "/schema", undefined, { signal: abort });
  schema.value = found;
  return found;
}

/** The schema if it is loaded already, or else loads it. */
export function knownSchema(abort?: AbortSignal): Promise<ServedSchema> {
  return schema.value === null ? loadSchema(abort) : Promise.resolve(schema.value);
}
