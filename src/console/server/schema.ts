import { signal } from "@preact/signals";
import type { ServedSchema } from "../../wire/schema-in-force.js";
import { requestData } from "./request-data.js";

/** Null before it is loaded. All screens share it, and it is loaded again after a change of the schema. */
const schema = signal<ServedSchema | null>(null);

/** Loads the schema in force for all screens. */
export async function loadSchema(abort?: AbortSignal): Promise<ServedSchema> {
  const found = await requestData<ServedSchema>("GET", "/schema", undefined, { signal: abort });
  schema.value = found;
  return found;
}

/** Loads the schema only if it is not loaded yet. */
export function knownSchema(abort?: AbortSignal): Promise<ServedSchema> {
  return schema.value === null ? loadSchema(abort) : Promise.resolve(schema.value);
}
