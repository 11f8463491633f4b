import type { QueryParameter } from "../../http/query-string.js";
import { Refusal } from "../../http/refusal.js";
import type { Cipher } from "../../platform/platform.js";

/** What a cursor carries: the original request as it was written, and how far it has come. */
export interface CursorState {
  readonly parameters: readonly QueryParameter[];
  readonly window: WireWindow;
  /** Authorized rows before the next page. */
  readonly offset: number;
  /** Authorized rows counted so far. */
  readonly total: number;
  /** See `ListPlan`. */
  readonly orderedOnly: boolean;
  /** Names of the columns that keys consist of. */
  readonly order: readonly string[];
}

/** `Window` of list-plan.ts with keys as JSON text of their wire values. */
export interface WireWindow {
  readonly after: string | null;
  readonly upTo: string | null;
  readonly counted: boolean;
  readonly skip: number;
}

/** Who may use a cursor, and where. */
export interface CursorBinding {
  readonly principal: string;
  readonly table: string;
  readonly schemaVersion: number;
}

export const cursorLifetimeMs = 3_600_000;

interface Carried extends CursorState {
  readonly expiresAtMs: number;
}

/**
 * Sealed with the binding as associated data: another caller's cursor, one of another table or of an older schema
 * does not open (interface, section 4). `now` is in milliseconds, `iv` 12 random bytes.
 */
export async function sealCursor(
  cipher: Cipher,
  state: CursorState,
  binding: CursorBinding,
  now: number,
  iv: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const carried: Carried = { expiresAtMs: now + cursorLifetimeMs, ...state };
  return cipher.seal(JSON.stringify(carried), associated(binding), iv);
}

export async function openCursor(
  cipher: Cipher,
  text: string,
  binding: CursorBinding,
  now: number,
): Promise<CursorState | Refusal> {
  const plain = await cipher.open(text, associated(binding));
  if (plain === null) return invalid;
  const { expiresAtMs, ...state }: Carried = JSON.parse(plain);
  return now < expiresAtMs ? state : invalid;
}

const invalid = new Refusal("invalid_cursor", "the cursor is malformed, expired, or not yours");

function associated({ principal, table, schemaVersion }: CursorBinding): string {
  return JSON.stringify([principal, table, schemaVersion]);
}
