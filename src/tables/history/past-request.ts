import type { Actor } from "../../auth/callers/principal.js";
import type { QueryParameter } from "../../http/query-string.js";
import { isRefusal, type Refusal } from "../../http/refusal.js";
import type { Access } from "../access/access.js";
import type { Execution, Succeed } from "../execution/execution.js";
import { loneCursor, openSealed, sealCursor } from "../list/cursor.js";
import type { BoundCursors } from "../list/list-response.js";
import type { Moments } from "./moments.js";

/** A request about a table's past: the history of rows, or the state at a moment. */
export interface PastRequest {
  readonly parameters: readonly QueryParameter[];
  readonly access: Access;
  readonly caller: Actor;
  readonly scanLimit: number;
  readonly moments: Moments;
  readonly execution: Execution;
  /** Cursors that are bound to one kind of answer, such as `history`, and open for no other kind. */
  readonly cursors: BoundCursors;
  readonly succeed: Succeed;
}

/** What a request about the past asks for, and where its page begins: `place` is null for the first page. */
export interface PastPageRequest<Place> {
  readonly parameters: readonly QueryParameter[];
  readonly place: Place | null;
}

/**
 * Finds out what a request about the past asks for, and where its page begins. A `cursor`, which has to be the only
 * parameter, holds both; else the request has its own parameters, and the page is the first.
 */
export async function readPastPage<Place>({
  parameters,
  cursors: { cipher, binding },
  execution: { nowMs },
}: PastRequest): Promise<PastPageRequest<Place> | Refusal> {
  const cursor = loneCursor(parameters);
  if (isRefusal(cursor)) return cursor;
  if (cursor === undefined) return { parameters, place: null };
  return openSealed<PastPageRequest<Place>>(cipher, cursor, binding, nowMs);
}

/** Makes the member `next_cursor` of `meta`, in JSON; an empty text where `next` is null. */
export async function nextCursor<Place>(
  next: PastPageRequest<Place> | null,
  { cursors: { cipher, random, binding }, execution: { nowMs } }: PastRequest,
): Promise<string> {
  if (next === null) return "";
  return `"next_cursor":"${await sealCursor(cipher, next, binding, nowMs, random.bytes(12))}"`;
}
