import { signal } from "@preact/signals";
import { ask } from "./ask.js";
import type { SchemaShape } from "./shapes.js";

/** The schema in force, once it is known. Screens share it, and load it anew after a change. */
export const schema = signal<SchemaShape | null>(null);

/** Loads the schema in force. */
export async function loadSchema(abort?: AbortSignal): Promise<SchemaShape> {
  const found = await ask<SchemaShape>("GET", "/schema", undefined, { signal: abort });
  schema.value = found;
  return found;
}

/** The schema that is known, or else the server's. */
export function knownSchema(abort?: AbortSignal): Promise<SchemaShape> {
  return schema.value === null ? loadSchema(abort) : Promise.resolve(schema.value);
}
