import { badCall } from "./error.js";

/** A key column as text for a URL. Throws if the value is missing, which `String` would turn into "undefined". */
export function keyText(value: unknown): string {
  if (value === undefined || value === null) throw badCall("the key is missing");
  const text = String(value);
  if (!text.isWellFormed()) throw badCall("the key holds half of a character");
  return text;
}

/** The columns of a composite key, each with its value as text. */
export function keyFields(key: object): [string, string][] {
  return Object.entries(key).map(([name, value]) => [name, keyText(value)]);
}
