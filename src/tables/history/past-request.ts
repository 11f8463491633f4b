import type { Actor } from "../../auth/principal.js";
import type { QueryParameter } from "../../http/query-string.js";
import { isRefusal, type Refusal } from "../../http/refusal.js";
import type { Attempt } from "../../metering/attempt.js";
import type { Access } from "../access.js";
import type { Execution } from "../execution.js";
import { loneCursor, openSealed, sealCursor } from "../list/cursor.js";
import type { BoundCursors } from "../list/list-response.js";
import type { Moments } from "./moments.js";

/** A request about what a table was. */
export interface PastRequest {
  readonly parameters: readonly QueryParameter[];
  readonly access: Access;
  readonly caller: Actor;
  readonly scanLimit: number;
  readonly moments: Moments;
  readonly execution: Execution;
  /** They open for this kind of answer alone. */
  readonly cursors: BoundCursors;
  readonly succeed: Attempt["succeed"];
}

/** What a request asks for, and where its page begins; `place` is null on the first page. */
export interface PastAsked<Place> {
  readonly parameters: readonly QueryParameter[];
  readonly place: Place | null;
}

/** What a request asks for: what its cursor holds, which then has to come alone, or its parameters. */
export async function pastAsked<Place>({
  parameters,
  cursors: { cipher, binding },
  execution: { nowMs },
}: PastRequest): Promise<PastAsked<Place> | Refusal> {
  const cursor = loneCursor(parameters);
  if (isRefusal(cursor)) return cursor;
  if (cursor === undefined) return { parameters, place: null };
  return openSealed<PastAsked<Place>>(cipher, cursor, binding, nowMs);
}

/** The cursor of the next page as a member of `meta`, as JSON text; empty where `next` is null. */
export async function nextCursor<Place>(
  next: PastAsked<Place> | null,
  { cursors: { cipher, random, binding }, execution: { nowMs } }: PastRequest,
): Promise<string> {
  if (next === null) return "";
  return `"next_cursor":"${await sealCursor(cipher, next, binding, nowMs, random.bytes(12))}"`;
}
