import { type Actor, isPastRules, principalOf } from "../../auth/callers/principal.js";
import { parseInstant } from "../../encoding/instant.js";
import { badRequest, Refusal } from "../../http/refusal.js";
import type { Result } from "../../platform/database.js";
import type { Cursors } from "../list/list-response.js";

/** A moment of the log of changes as a request names it: an entry's number, or a time. */
export type RequestedMoment =
  | { readonly kind: "seq"; readonly seq: number }
  | { readonly kind: "time"; readonly atMs: number };

/**
 * Writes and reads numbers of the log's entries for one caller. API keys and admins see them as they are. For others
 * they are sealed, because they tell how much happens in other tables.
 */
export interface Moments {
  /** Writes the number of an entry as JSON for the answer. */
  written(seq: number): Promise<string>;
  /** Reads the text by which a request names a moment; null where it is neither a time nor a number. */
  read(text: string): Promise<RequestedMoment | null>;
}

/** Whether a caller sees everything of the log of changes: the numbers of entries, and who made a change. */
export function seesLog(caller: Actor): boolean {
  return isPastRules(caller) || (caller.kind === "user" && caller.role === "admin");
}

/** Makes the `Moments` for a caller. */
export function momentsOf(caller: Actor, { cipher, random }: Cursors): Moments {
  const isOpen = seesLog(caller);
  const associated = `moment of ${principalOf(caller)}`;
  return {
    written: async (seq) =>
      isOpen
        ? String(seq)
        : // Every number is padded to 16 digits, so that the length of the sealed text tells nothing of it.
          JSON.stringify(await cipher.seal(String(seq).padStart(16, "0"), associated, random.bytes(12))),
    read: async (text) => {
      const atMs = parseInstant(text);
      if (atMs !== null) return { kind: "time", atMs };
      const plain = isOpen ? text : await cipher.open(text, associated);
      return plain !== null && /^\d{1,16}$/.test(plain) ? { kind: "seq", seq: Number(plain) } : null;
    },
  };
}

/** How far back the log of changes reaches for a table, and which entry was found for a time. */
export interface LogState {
  /** The number of the entry from which on the table's state is known. */
  readonly floor: number;
  readonly floorAtMs: number;
  /** The number of the newest entry of the log, of whichever table it is. */
  readonly newest: number;
  /** The number of the log's last entry at or before the time that was asked for; `floor` where there is none. */
  readonly found: number;
}

/** Reads the state of a table's log from the result of `momentStatement`. */
export function logState({ rows }: Result): LogState {
  const [floor, floorAtMs, newest, found] = rows[0]! as readonly number[];
  return { floor: floor!, floorAtMs: floorAtMs!, newest: newest!, found: found! };
}

/** Returns a moment's last entry; a refusal where it is in the future, or before what the log knows. */
export function entryAt(moment: RequestedMoment, state: LogState, nowMs: number): number | Refusal {
  if (moment.kind === "time") {
    if (moment.atMs > nowMs) return inFuture;
    return moment.atMs < state.floorAtMs || state.found < state.floor ? gone : state.found;
  }
  if (moment.seq > state.newest) return inFuture;
  return moment.seq < state.floor ? gone : moment.seq;
}

const inFuture = badRequest("at: this is in the future");
/** The refusal of a moment for which the log of changes has nothing any more, or had nothing yet. */
export const gone = new Refusal("gone", "history of that time is not kept any more, or was not kept yet");
