import { type QueryParameter, quoted } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { jsonText } from "../../http/respond.js";
import type { SqlValue } from "../../platform/database.js";
import { outermostExists } from "../../rules/walk.js";
import type { Access } from "../access/access.js";
import { asShown } from "../access/as-shown.js";
import { read } from "../execution/execution.js";
import { incomparableIn, type ListRequest, parseListRequest } from "../request/list-request.js";
import { finishRows } from "../sql/finish-rows.js";
import { momentStatement } from "../sql/log.js";
import { pastOf, stateStatement } from "../sql/past.js";
import { bind, param, Slot } from "../sql-text/fragment.js";
import { entryAt, gone, logState } from "./moments.js";
import { nextCursor, type PastRequest, readPastPage } from "./past-request.js";

/**
 * Where a page of a table's past state begins. `seq` is the number of the log's entry whose state is answered, `after`
 * the text of the key that the page before has examined last.
 */
interface StatePlace {
  readonly seq: number;
  readonly after: string;
}

/**
 * Answers `GET /api/:table/_svc/state`: the rows as they were, in the order of their key
 * (docs/reference/http.md#state).
 */
export async function stateResponse(request: PastRequest): Promise<Response | Refusal> {
  const { access, scanLimit, moments, execution, succeed } = request;
  const { nowMs, tally } = execution;
  const { table } = access;
  const asked = await readPastPage<StatePlace>(request);
  if (isRefusal(asked)) return asked;
  const at = asked.parameters.filter(([name]) => name === "at").map(([, value]) => value);
  const list = listOf(
    asked.parameters.filter(([name]) => name !== "at"),
    access,
  );
  if (isRefusal(list)) return list;
  if (at.length !== 1) return badRequest("at: expected a time such as 2026-03-01T12:00:00Z, or a number of an entry");
  const moment = await moments.read(at[0]!);
  if (moment === null) return badRequest(`at: ${quoted(at[0]!)} is neither a time nor a number of an entry`);
  let seq = asked.place?.seq;
  if (seq === undefined) {
    const isTime = moment.kind === "time";
    const question = momentStatement(table.name, isTime ? moment.atMs : 0);
    // Looking up a time may take long: entries of the log that other programs made are read one by one, however many
    // they are.
    const [found] = await read(execution, [question], isTime ? "long" : "short");
    const entry = entryAt(moment, logState(found!), nowMs);
    if (isRefusal(entry)) return entry;
    seq = entry;
  }
  const { select, filterValues } = list;
  const filters = list.filters.map((filter) => asShown(filter, table.name, access.catalog, filterValues));
  const past = pastOf(access, list.limit, scanLimit, { filters, ...(select && { output: select }) });
  const statement = stateStatement(past, param(new Slot("moment")), asked.place && new Slot("after"));
  const place = new Map<string, SqlValue>([
    ["moment", BigInt(seq)],
    ["after", asked.place?.after ?? ""],
  ]);
  // The state of the log is read after the page, because old entries may be deleted meanwhile: if the moment is still
  // known after the page, it was known while the page was read.
  const values = [place, execution.values, filterValues];
  const [page, state] = await read(execution, [bind(statement, values), momentStatement(table.name, 0)], "long");
  if (seq < logState(state!).floor) return gone;
  const shown = page!.rows.filter(([, , examined]) => examined === null);
  if (shown.some(([, row]) => row === null)) return tooLarge;
  const [last, , examined, passed, isMore] = page!.rows.find(([, , examined]) => examined !== null) ?? nothing;
  tally.add(outermostExists(past.rule).length === 0 ? (examined as number) : null);
  const isCut = (passed as number) > shown.length;
  const after = isCut ? shown.at(-1)![0] : isMore === 1 ? last : null;
  const next = after === null ? null : { parameters: asked.parameters, place: { seq, after: after as string } };
  const data = await finishRows(`[${shown.map(([, row]) => row).join()}]`, [...table.columns.values()]);
  const floor = await moments.written(logState(state!).floor);
  const metered = await succeed(200, shown.length, data);
  if (isRefusal(metered)) return metered;
  const members = [
    `"limit":${list.limit},"seq":${await moments.written(seq)},"floor":${floor}`,
    await nextCursor(next, request),
    metered,
  ];
  return jsonText(`{"data":${data},"meta":{${members.filter(Boolean).join()}}}`);
}

const nothing: readonly (number | null)[] = [null, null, 0, 0, 0];
const tooLarge = badRequest("a row is too large for an answer: select fewer columns");

/** Parses filters, `select` and `limit`, as for lists; the other parameters of lists are refused. */
function listOf(parameters: readonly QueryParameter[], access: Access): ListRequest | Refusal {
  const other = parameters.find(([name]) => !/^(where|filter)\[|^(select|limit)$/.test(name));
  if (other !== undefined) return badRequest(`unknown parameter ${quoted(other[0])}`);
  return parseListRequest(parameters, access.readable, incomparableIn(access));
}
