import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { type HeadersRecord, jsonPieces } from "../../http/respond.js";
import { StatementError } from "../../platform/database.js";
import type { Cipher, Random } from "../../platform/platform.js";
import type { Execution, Succeed } from "../execution/execution.js";
import { resolveExpansions } from "../plan/resolve-expansions.js";
import { incomparableIn, type ListParameters, type ListRequest, parseListRequest } from "../request/list-request.js";
import { type CursorBinding, type CursorState, loneCursor, openCursor, sealCursor } from "./cursor.js";
import { firstState, listPage } from "./list-page.js";
import type { ListAccess, ListSource } from "./prepare-list.js";

/** What is needed to seal (encrypt) and open cursors. */
export interface Cursors {
  readonly cipher: Cipher;
  readonly random: Random;
}

/** What is needed to seal and open cursors of one caller, one table and one version of the schema. */
export interface BoundCursors extends Cursors {
  readonly binding: CursorBinding;
}

/**
 * Binds cursors to another kind of answer than a list, such as `history`, so that a cursor of one kind does not open
 * for the other. The kind is added to the table's name after a slash, which no table's name has.
 */
export function boundTo(answer: string, { binding, ...cursors }: BoundCursors): BoundCursors {
  return { ...cursors, binding: { ...binding, table: `${binding.table}/_svc/${answer}` } };
}

/**
 * Answers a list request with `{ data, meta: { limit, offset, total, next_cursor?, truncated?, … } }`. `succeed`
 * records the receipt and returns the members that metering adds to `meta`. `headers` are added to the response unless
 * it is a refusal.
 */
export async function listResponse(
  parameters: ListParameters,
  source: ListSource,
  execution: Execution,
  cursors: BoundCursors,
  succeed: Succeed,
  headers: HeadersRecord = {},
): Promise<Response | Refusal> {
  const { nowMs } = execution;
  const asked = await readListPage(parameters, source.access, cursors, nowMs);
  if (isRefusal(asked)) return asked;
  const { list, state } = asked;
  const expansions = resolveExpansions(list.expand, source.access, source.tables, list.limit);
  if (isRefusal(expansions)) return expansions;
  const page = await listPage({ ...list, expansions }, state, source, execution).catch(tooLargeStatement);
  if (isRefusal(page)) return page;
  const { rows, limit, offset, total, truncated, next, rowsReturned } = page;
  const cursor = next && (await sealCursor(cursors.cipher, next, cursors.binding, nowMs, cursors.random.bytes(12)));
  if (cursor !== null && cursor.length > cursorLengthMax)
    return cursorTooLong(longIn(next!).filter((column) => source.access.readable.has(column)));
  const metered = await succeed(200, rowsReturned, rows);
  if (isRefusal(metered)) return metered;
  const members = [
    `"limit":${limit},"offset":${offset},"total":${total}`,
    cursor && `"next_cursor":"${cursor}"`,
    truncated && `"truncated":true`,
    metered,
  ];
  const meta = `],"meta":{${members.filter(Boolean).join()}}}`;
  return jsonPieces(rows === "" ? ['{"data":[', meta] : ['{"data":[', rows, meta], 200, headers);
}

/** Refuses a list whose statement was too large for the database; throws any other error again. */
export function tooLargeStatement(error: unknown): Refusal {
  if (error instanceof StatementError && isTooLarge.test(error.message)) return tooLarge;
  throw error;
}

/**
 * Matches the messages by which D1 says that a statement is over its limits: for the length of its text, the depth of
 * its expressions, and the number of its instructions.
 */
const isTooLarge = /statement too long|Expression tree is too large|out of memory/;
const tooLarge = badRequest(
  "the list takes a larger statement than the database allows: fewer or shorter filters would help",
);

/** How many characters a cursor may have, which comes back in the URL: it has to fit into a request's head. */
export const cursorLengthMax = 100_000;
/** Refuses a page whose cursor would be too long. `columns` are those of its sort that have long values. */
export function cursorTooLong(columns: readonly string[] = []): Refusal {
  return badRequest(
    "the cursor of this list would be too long: fewer values in its filters, or shorter values of its sort, would help",
    columns,
  );
}

/** Returns the columns of the order whose values take more than a tenth of the length that a cursor may have. */
function longIn({ order, window: { after } }: CursorState): readonly string[] {
  const values: readonly unknown[] = after === null ? [] : JSON.parse(after);
  return order.filter((_, i) => JSON.stringify(values[i] ?? null).length > cursorLengthMax / 10);
}

/**
 * Finds the list that a request asks for, and where its page begins. A `cursor`, which has to be the only parameter or
 * member, holds both, whether it was made for a query string or for a JSON body. Else the parameters or members
 * describe the list, and the page is the first.
 */
async function readListPage(
  parameters: ListParameters,
  access: ListAccess,
  { cipher, binding }: BoundCursors,
  nowMs: number,
): Promise<{ readonly list: ListRequest; readonly state: CursorState } | Refusal> {
  const incomparable = incomparableIn(access);
  const entries: readonly (readonly [name: string, value: unknown])[] = Array.isArray(parameters)
    ? parameters
    : Object.entries(parameters);
  const cursor = loneCursor(entries);
  if (isRefusal(cursor)) return cursor;
  if (cursor === undefined) {
    const list = parseListRequest(parameters, access.readable, incomparable);
    return isRefusal(list) ? list : { list, state: firstState(parameters, list) };
  }
  if (typeof cursor !== "string") return badRequest("cursor: expected a string");
  const state = await openCursor(cipher, cursor, binding, nowMs);
  if (isRefusal(state)) return state;
  const list = parseListRequest(state.parameters, access.readable, incomparable);
  return isRefusal(list) ? list : { list, state };
}
