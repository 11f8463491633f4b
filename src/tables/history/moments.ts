import { type Actor, isPastRules, principalOf } from "../../auth/principal.js";
import { parseInstant } from "../../encoding/instant.js";
import { badRequest, Refusal } from "../../http/refusal.js";
import type { Result } from "../../platform/database.js";
import type { Cursors } from "../list/list-response.js";

/** A moment of the log as a request names it: the number of an entry, or a time in milliseconds since the epoch. */
export type AskedMoment =
  | { readonly kind: "seq"; readonly seq: number }
  | { readonly kind: "time"; readonly atMs: number };

/**
 * Writes and reads numbers of entries for one caller. API keys and admins see them as they are. To others they are
 * sealed, because they tell how much happens in other tables.
 */
export interface Moments {
  /** The number as JSON. */
  written(seq: number): Promise<string>;
  /** What a text names; null for what is no moment. */
  read(text: string): Promise<AskedMoment | null>;
}

/** Whether a caller sees everything of the log: the numbers of entries, and who made a change. */
export function seesLog(caller: Actor): boolean {
  return isPastRules(caller) || (caller.kind === "user" && caller.role === "admin");
}

/** The `Moments` of a caller. */
export function momentsOf(caller: Actor, { cipher, random }: Cursors): Moments {
  const isOpen = seesLog(caller);
  const associated = `moment of ${principalOf(caller)}`;
  return {
    written: async (seq) =>
      isOpen
        ? String(seq)
        : // Always as long, so that its length tells nothing of the number.
          JSON.stringify(await cipher.seal(String(seq).padStart(16, "0"), associated, random.bytes(12))),
    read: async (text) => {
      const atMs = parseInstant(text);
      if (atMs !== null) return { kind: "time", atMs };
      const plain = isOpen ? text : await cipher.open(text, associated);
      return plain !== null && /^\d{1,16}$/.test(plain) ? { kind: "seq", seq: Number(plain) } : null;
    },
  };
}

/** What the log of a table reaches back to, and where in it a moment is. */
export interface LogState {
  /** The first moment whose state is known. */
  readonly floor: number;
  readonly floorAtMs: number;
  /** The newest entry of all tables. */
  readonly newest: number;
  /** The last entry at or before the time that was asked for. */
  readonly found: number;
}

/** The state of a table's log, from the result of `momentStatement`. */
export function logState({ rows }: Result): LogState {
  const [floor, floorAtMs, newest, found] = rows[0]! as readonly number[];
  return { floor: floor!, floorAtMs: floorAtMs!, newest: newest!, found: found! };
}

/** The entry up to which a moment reaches; a refusal where it is in the future, or before what the log knows. */
export function entryAt(moment: AskedMoment, state: LogState, nowMs: number): number | Refusal {
  if (moment.kind === "time") {
    if (moment.atMs > nowMs) return inFuture;
    return moment.atMs < state.floorAtMs || state.found < state.floor ? gone : state.found;
  }
  if (moment.seq > state.newest) return inFuture;
  return moment.seq < state.floor ? gone : moment.seq;
}

const inFuture = badRequest("at: this is in the future");
/** The refusal of a moment before what is kept. */
export const gone = new Refusal("gone", "history of that time is not kept any more, or was not kept yet");
