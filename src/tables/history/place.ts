import { Refusal } from "../../http/refusal.js";
import { cursorLifetimeMs } from "../list/cursor.js";
import type { BoundCursors } from "../list/list-response.js";

/**
 * Seals a place in an answer of several pages as a cursor. It opens only for the same caller, table, version of the
 * schema and `kind` of answer, and for an hour.
 */
export async function sealPlace(
  { cipher, random, binding }: BoundCursors,
  kind: string,
  place: object,
  nowMs: number,
): Promise<string> {
  const text = JSON.stringify({ expiresAtMs: nowMs + cursorLifetimeMs, place });
  return cipher.seal(text, associated(binding, kind), random.bytes(12));
}

/** Opens what `sealPlace` has made of a place; a refusal for anything else. */
export async function openPlace<T extends object>(
  { cipher, binding }: BoundCursors,
  kind: string,
  text: string,
  nowMs: number,
): Promise<T | Refusal> {
  const plain = await cipher.open(text, associated(binding, kind));
  if (plain === null) return invalid;
  const { expiresAtMs, place }: { expiresAtMs: number; place: T } = JSON.parse(plain);
  return nowMs < expiresAtMs ? place : invalid;
}

const invalid = new Refusal("invalid_cursor", "the cursor is malformed, expired, or not yours");

function associated({ principal, table, schemaVersion }: BoundCursors["binding"], kind: string): string {
  return JSON.stringify([principal, `${table}/_svc/${kind}`, schemaVersion]);
}
