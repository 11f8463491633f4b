import { type Caller, principalOf } from "../auth/principal.js";
import { parseQueryString, quoted } from "../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import { loneCursor, openSealed, sealCursor } from "../tables/list/cursor.js";
import type { AdminServices } from "./services.js";

/** A place in a list that begins with what is newest: behind the entry with this time and this id. */
export type Place = readonly [atMs: number, id: string];

/** What a request asks for of a list that begins with what is newest. */
export interface NewestFirst {
  readonly limit: number;
  readonly after: Place | null;
  /** The values of the parameters that choose entries, by their names. */
  readonly chosen: Readonly<Record<string, string>>;
}

const limitMax = 1_000;
const limitDefault = 50;

/**
 * Reads the parameters of such a list: `limit`, `cursor` and those of `choosing`. `list` names it, for its cursors, which
 * open for the same caller alone.
 */
export async function newestFirst(
  request: Request,
  list: string,
  choosing: readonly string[],
  { platform, cursors }: AdminServices,
  caller: Caller,
): Promise<NewestFirst | Refusal> {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  const cursor = loneCursor(parameters);
  if (isRefusal(cursor)) return cursor;
  if (cursor !== undefined)
    return openSealed<NewestFirst>(cursors.cipher, cursor, bindingOf(list, caller), platform.clock.now());
  const { limit: limitText = String(limitDefault), ...chosen } = Object.fromEntries(parameters);
  const unknown = Object.keys(chosen).find((name) => !choosing.includes(name));
  if (unknown !== undefined) return badRequest(`unknown parameter ${quoted(unknown)}`);
  const limit = limitOf(limitText);
  return limit === null ? badLimit : { limit, after: null, chosen };
}

/** The number that a parameter `limit` names, from 1 to 1000; null for any other text. */
export function limitOf(text: string): number | null {
  return /^[1-9]\d{0,3}$/.test(text) && Number(text) <= limitMax ? Number(text) : null;
}

/** The refusal of any other `limit`. */
export const badLimit = badRequest(`limit: expected an integer from 1 to ${limitMax}`);

/** An entry as it is shown, and where the next one begins. */
export interface Placed {
  readonly shown: unknown;
  readonly place: Place;
}

/** The answer with a page of such a list. `found` has one entry more than the limit where there are more. */
export async function newestFirstAnswer(
  found: readonly Placed[],
  asked: NewestFirst,
  list: string,
  { platform, cursors }: AdminServices,
  caller: Caller,
): Promise<Response> {
  const { cipher, random } = cursors;
  const page = found.slice(0, asked.limit);
  const isMore = found.length > page.length;
  const state = { ...asked, after: page.at(-1)?.place ?? null };
  const cursor =
    isMore &&
    (await sealCursor(cipher, state, bindingOf(list, caller), platform.clock.now(), random.bytes(12)));
  const meta = { limit: asked.limit, ...(cursor && { next_cursor: cursor }) };
  return json({ data: page.map(({ shown }) => shown), meta });
}

const bindingOf = (list: string, caller: Caller) => ({
  principal: principalOf(caller),
  table: `/admin/api/${list}`,
  schemaVersion: 0,
});
