import { type Caller, principalOf } from "../auth/callers/principal.js";
import { parseQueryString, quoted } from "../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import { loneCursor, openSealed, sealCursor } from "../tables/list/cursor.js";
import { type NewestPage, newestPage } from "../wire/pages.js";
import type { WireSchema } from "../wire/schema.js";
import { inQuery, readErrors } from "./endpoint.js";
import type { AdminServices } from "./services.js";

/**
 * A place in a list that is sorted from the newest entry to the oldest: directly behind the entry with this time and
 * this id. A page of the list begins there.
 */
export type CursorPlace = readonly [atMs: number, id: string];

/** Which page a request asks for, of a list that is sorted from the newest entry to the oldest. */
export interface NewestFirstRequest {
  readonly limit: number;
  readonly after: CursorPlace | null;
  /**
   * The values of the query parameters that filter the list, such as `state` for mails, by the names of the parameters.
   */
  readonly chosen: Readonly<Record<string, string>>;
}

const limitMax = 1_000;
const limitDefault = 50;

/**
 * Reads the query parameters of a request for a list that is sorted from the newest entry to the oldest: `limit` and
 * the filters that `choosing` names, or for a further page `cursor` alone, which holds the limit and the filters of the
 * page before. `list` is the list's name. A cursor is accepted only for the list that it was made for, and from the
 * caller who was given it.
 */
export async function newestFirst(
  request: Request,
  list: string,
  choosing: readonly string[],
  { platform, cursors }: AdminServices,
  caller: Caller,
): Promise<NewestFirstRequest | Refusal> {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  const cursor = loneCursor(parameters);
  if (isRefusal(cursor)) return cursor;
  if (cursor !== undefined)
    return openSealed<NewestFirstRequest>(cursors.cipher, cursor, bindingOf(list, caller), platform.clock.now());
  const { limit: limitText = String(limitDefault), ...chosen } = Object.fromEntries(parameters);
  const unknown = Object.keys(chosen).find((name) => !choosing.includes(name));
  if (unknown !== undefined) return badRequest(`unknown parameter ${quoted(unknown)}`);
  const limit = parseEntryLimit(limitText);
  return limit === null ? badLimit : { limit, after: null, chosen };
}

/**
 * Makes the parameters, the answer and the errors of an endpoint that answers such a list. `entry` is the schema of one
 * entry, and `choosing` names the filters.
 */
export const newestFirstEndpoint = (entry: WireSchema, ...choosing: readonly string[]) => ({
  parameters: [...choosing, "limit", "cursor"].map((name) => inQuery(name)),
  answers: { 200: newestPage(entry) },
  errors: readErrors,
});

/** Parses the text of a parameter `limit`: the number from 1 to 1000 that it names; null for any other text. */
export function parseEntryLimit(text: string): number | null {
  return /^[1-9]\d{0,3}$/.test(text) && Number(text) <= limitMax ? Number(text) : null;
}

/** The refusal of a `limit` that is not from 1 to 1000. */
export const badLimit = badRequest(`limit: expected an integer from 1 to ${limitMax}`);

/**
 * An entry of a list: what the answer shows of it, and its place, which goes into a cursor so that the next page begins
 * behind this entry.
 */
export interface ListedEntry<Entry> {
  readonly shown: Entry;
  readonly place: CursorPlace;
}

/**
 * Makes the answer with a page of a list that is sorted from the newest entry to the oldest. If the list goes on behind
 * the page, `found` has to hold one entry more than the limit, and the answer has a cursor.
 */
export async function newestFirstAnswer<Entry>(
  found: readonly ListedEntry<Entry>[],
  asked: NewestFirstRequest,
  list: string,
  { platform, cursors }: AdminServices,
  caller: Caller,
): Promise<Response> {
  const { cipher, random } = cursors;
  const page = found.slice(0, asked.limit);
  const isMore = found.length > page.length;
  const state = { ...asked, after: page.at(-1)?.place ?? null };
  const cursor =
    isMore && (await sealCursor(cipher, state, bindingOf(list, caller), platform.clock.now(), random.bytes(12)));
  const answer: NewestPage<Entry> = {
    data: page.map(({ shown }) => shown),
    meta: { limit: asked.limit, ...(cursor && { next_cursor: cursor }) },
  };
  return json(answer);
}

const bindingOf = (list: string, caller: Caller) => ({
  principal: principalOf(caller),
  table: `/admin/api/${list}`,
  schemaVersion: 0,
});
