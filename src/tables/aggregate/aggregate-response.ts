import { parseQueryString, type QueryParameter } from "../../http/query-string.js";
import { isRefusal, type Refusal } from "../../http/refusal.js";
import { jsonText } from "../../http/respond.js";
import type { Execution, Succeed } from "../execution/execution.js";
import { type CursorState, loneCursor, openCursor, sealCursor } from "../list/cursor.js";
import { type BoundCursors, boundTo, cursorLengthMax, cursorTooLong } from "../list/list-response.js";
import { type AggregateRequest, parseAggregateRequest } from "../request/aggregate-request.js";
import { incomparableIn } from "../request/list-request.js";
import { aggregatePage } from "./aggregate-page.js";
import type { AggregateSource } from "./prepare-aggregate.js";

/**
 * Answers an aggregate request with `{ data, meta: { limit, offset, total, next_cursor?, … } }`. `succeed` records the
 * receipt and returns the members that metering adds to `meta`.
 */
export async function aggregateResponse(
  request: Request,
  source: AggregateSource,
  execution: Execution,
  listCursors: BoundCursors,
  succeed: Succeed,
): Promise<Response | Refusal> {
  const { nowMs } = execution;
  const cursors = boundTo("aggregate", listCursors);
  const asked = await readAggregatePage(request, source.access, cursors, nowMs);
  if (isRefusal(asked)) return asked;
  const page = await aggregatePage(asked.aggregate, asked.state, source, execution);
  if (isRefusal(page)) return page;
  const { data, limit, offset, total, next, rowsReturned } = page;
  const { cipher, random, binding } = cursors;
  const cursor = next && (await sealCursor(cipher, next, binding, nowMs, random.bytes(12)));
  if (cursor !== null && cursor.length > cursorLengthMax) return cursorTooLong();
  const metered = await succeed(200, rowsReturned, data);
  if (isRefusal(metered)) return metered;
  const members = [
    `"limit":${limit},"offset":${offset},"total":${total}`,
    cursor && `"next_cursor":"${cursor}"`,
    metered,
  ];
  return jsonText(`{"data":${data},"meta":{${members.filter(Boolean).join()}}}`);
}

/**
 * Finds the aggregate that a request asks for, and where its page begins. A `cursor`, which has to be the only
 * parameter, holds both; else the parameters describe the aggregate, and the page is the first.
 */
async function readAggregatePage(
  request: Request,
  access: AggregateSource["access"],
  { cipher, binding }: BoundCursors,
  nowMs: number,
): Promise<{ readonly aggregate: AggregateRequest; readonly state: CursorState } | Refusal> {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  const cursor = loneCursor(parameters);
  if (isRefusal(cursor)) return cursor;
  const first: CursorState = {
    parameters,
    window: { after: null, upTo: null, counted: false, skip: 0 },
    offset: 0,
    total: 0,
    choice: "best",
    order: [],
  };
  const state = cursor === undefined ? first : await openCursor(cipher, cursor, binding, nowMs);
  if (isRefusal(state)) return state;
  // The cursors of lists may hold the members of a JSON body, but those of aggregates only query parameters, because an
  // aggregate takes no body.
  const asked = state.parameters as readonly QueryParameter[];
  const aggregate = parseAggregateRequest(asked, access.readable, incomparableIn(access));
  return isRefusal(aggregate) ? aggregate : { aggregate, state };
}
