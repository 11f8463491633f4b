import { parseQueryString } from "../../http/query-string.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import { jsonText } from "../../http/respond.js";
import type { Attempt } from "../../metering/attempt.js";
import type { Cipher, Random } from "../../platform/platform.js";
import type { Execution } from "../execution.js";
import { type CursorBinding, type CursorState, openCursor, sealCursor } from "./cursor.js";
import { firstState, listPage } from "./list-page.js";
import { type Incomparable, type ListRequest, parseListRequest } from "./list-request.js";
import type { ListAccess, ListSource } from "./prepare-list.js";

/** What it takes to seal (encrypt) and open cursors. */
export interface Cursors {
  readonly cipher: Cipher;
  readonly random: Random;
}

/** What it takes to seal and open cursors of one caller, one table and one version of the schema. */
export interface BoundCursors extends Cursors {
  readonly binding: CursorBinding;
}

/**
 * Answers a list request with `{ data, meta: { limit, offset, total, next_cursor?, truncated?, … } }`. `succeed`
 * records the receipt and returns the members that metering adds to `meta`.
 */
export async function listResponse(
  request: Request,
  source: ListSource,
  execution: Execution,
  cursors: BoundCursors,
  succeed: Attempt["succeed"],
): Promise<Response | Refusal> {
  const { nowMs } = execution;
  const asked = await listAsked(request, source.access, cursors, nowMs);
  if (isRefusal(asked)) return asked;
  const page = await listPage(asked.list, asked.state, source, execution);
  if (isRefusal(page)) return page;
  const { data, limit, offset, total, truncated, next, rowsReturned } = page;
  const cursor =
    next && (await sealCursor(cursors.cipher, next, cursors.binding, nowMs, cursors.random.bytes(12)));
  if (cursor !== null && cursor.length > cursorLengthMax) return cursorTooLong;
  const metered = await succeed(200, rowsReturned);
  const members = [
    `"limit":${limit},"offset":${offset},"total":${total}`,
    cursor && `"next_cursor":"${cursor}"`,
    truncated && `"truncated":true`,
    metered,
  ];
  return jsonText(`{"data":${data},"meta":{${members.filter(Boolean).join()}}}`);
}

/**
 * The longest cursor, in characters. It comes back in the URL, so it has to fit into a request's header with room for
 * everything else.
 */
export const cursorLengthMax = 100_000;
/** Refuses a page whose cursor would be longer than `cursorLengthMax`. */
export const cursorTooLong = badRequest(
  "the cursor of this list would be too long: fewer values in its filters, or shorter values of its sort, would help",
);

interface Asked {
  readonly list: ListRequest;
  /** Where in the list the page begins. */
  readonly state: CursorState;
}

const none: Incomparable = new Map();

/**
 * The list that a request asks for, and where its page begins: what the parameter `cursor` holds, which then has to be
 * the only parameter, or else what the parameters describe.
 */
async function listAsked(
  request: Request,
  { readable, catalog, table }: ListAccess,
  { cipher, binding }: BoundCursors,
  nowMs: number,
): Promise<Asked | Refusal> {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  const incomparable = catalog.unsupported.columns.get(table.name) ?? none;
  const cursor = parameters.find(([name]) => name === "cursor");
  if (cursor === undefined) {
    const list = parseListRequest(parameters, readable, incomparable);
    return isRefusal(list) ? list : { list, state: firstState(parameters, list) };
  }
  if (parameters.length > 1)
    return new Refusal("invalid_cursor", "a cursor comes alone, without other parameters");
  const state = await openCursor(cipher, cursor[1], binding, nowMs);
  if (isRefusal(state)) return state;
  const list = parseListRequest(state.parameters, readable, incomparable);
  return isRefusal(list) ? list : { list, state };
}
