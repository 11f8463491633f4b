import { padded } from "../../encoding/padded.js";
import { isRefusal, Refusal } from "../../http/refusal.js";
import type { Cipher } from "../../platform/platform.js";
import type { PathChoice } from "../plan/list-plan.js";
import type { ListParameters } from "../request/list-request.js";

/** What a cursor holds: what the first request asked for, and how far the pages have come. */
export interface CursorState {
  readonly parameters: ListParameters;
  readonly window: WireWindow;
  /** How many rows of the list come before the page that the cursor leads to. */
  readonly offset: number;
  /**
   * How many rows of the list the pages before the one that the cursor leads to have counted together. The page adds
   * what it counts itself; the sum is its `meta.total`, unless the request asks not to count.
   */
  readonly total: number;
  readonly choice: PathChoice;
  /** The columns that the list is ordered by: the keys in `window` have a value for each of them. */
  readonly order: readonly string[];
}

/** A `Window` of a `ListPlan` as a cursor carries it: its keys are JSON text that `keyValue` wrote. */
export interface WireWindow {
  readonly after: string | null;
  readonly upTo: string | null;
  readonly counted: boolean;
  /** How many rows at the beginning of the window are left out, for `offset`. */
  readonly skip: number;
}

/** The caller, the table and the version of the schema for which a cursor is valid. */
export interface CursorBinding {
  readonly principal: string;
  readonly table: string;
  readonly schemaVersion: number;
}

/** How many milliseconds a cursor is valid: an hour. */
export const cursorLifetimeMs = 3_600_000;

/**
 * Encrypts the state that a cursor holds, and returns the text of the cursor. The binding is the associated data of the
 * encryption, so the cursor opens only for the same caller, table and version of the schema
 * (`docs/reference/http.md#cursors`). `now` is in milliseconds, `iv` is 12 random bytes.
 */
export async function sealCursor<State extends object>(
  cipher: Cipher,
  state: State,
  binding: CursorBinding,
  now: number,
  iv: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const carried = { expiresAtMs: now + cursorLifetimeMs, ...state };
  return cipher.seal(padded(JSON.stringify(carried)), associated(binding), iv);
}

/** Decrypts a cursor that `sealCursor` made; a refusal where it is malformed, expired or not for this. */
export async function openSealed<State extends object>(
  cipher: Cipher,
  text: string,
  binding: CursorBinding,
  now: number,
): Promise<State | Refusal> {
  const plain = await cipher.open(text, associated(binding));
  if (plain === null) return invalid;
  const { expiresAtMs, ...state }: State & { readonly expiresAtMs: number } = JSON.parse(plain);
  return now < expiresAtMs ? (state as unknown as State) : invalid;
}

/** Decrypts the cursor of a list or an aggregate, as `openSealed` does. */
export async function openCursor(
  cipher: Cipher,
  text: string,
  binding: CursorBinding,
  now: number,
): Promise<CursorState | Refusal> {
  const state = await openSealed<CursorState>(cipher, text, binding, now);
  // Cursors that version 0.1 of the server made have no `choice`. Their lists were read by an index or the table, never
  // by ways (index walks from a known value), so for them the choice is `search`.
  return isRefusal(state) ? state : { ...state, choice: state.choice ?? "search" };
}

/**
 * Returns the value of the parameter `cursor` of a request; undefined where the request has none. Returns a refusal
 * where other parameters come with the cursor. In a JSON body the value may be of any type.
 */
export function loneCursor<T>(parameters: readonly (readonly [name: string, value: T])[]): T | undefined | Refusal {
  const cursor = parameters.find(([name]) => name === "cursor");
  return cursor === undefined || parameters.length === 1 ? cursor?.[1] : notAlone;
}

const notAlone = new Refusal("invalid_cursor", "a cursor comes alone, without other parameters");

const invalid = new Refusal("invalid_cursor", "the cursor is malformed, expired, or not yours");

function associated({ principal, table, schemaVersion }: CursorBinding): string {
  return JSON.stringify([principal, table, schemaVersion]);
}
