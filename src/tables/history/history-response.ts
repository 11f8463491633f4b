import type { Actor } from "../../auth/callers/principal.js";
import { type QueryParameter, quoted } from "../../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { jsonText } from "../../http/respond.js";
import type { ResultValue } from "../../platform/database.js";
import type { Access } from "../access/access.js";
import { type Execution, read } from "../execution/execution.js";
import { parseListRequest } from "../request/list-request.js";
import { compositeKey, singleKey } from "../request/row-request.js";
import { finishKey, finishRows } from "../sql/finish-rows.js";
import { momentStatement } from "../sql/log.js";
import { pastOf, versionsStatement } from "../sql/past.js";
import { type LogState, logState, type Moments, type RequestedMoment, seesLog } from "./moments.js";
import { nextCursor, type PastRequest, readPastPage } from "./past-request.js";

/** Answers `GET /api/:table/_svc/history`: versions of rows, the newest first (`docs/reference/http.md#history`). */
export async function historyResponse(request: PastRequest): Promise<Response | Refusal> {
  const { access, caller, scanLimit, moments, execution, succeed } = request;
  const { table } = access;
  // The page begins before the entry of the log with the number `place`.
  const begun = await readPastPage<number>(request);
  if (isRefusal(begun)) return begun;
  const { parameters, place } = begun;
  const asked = await readVersionsRequest(parameters, access, moments);
  if (isRefusal(asked)) return asked;
  const { key, limit, since, until } = asked;
  const between = await entriesBetween(since, until, access, execution);
  const past = pastOf(access, limit, scanLimit);
  const statement = versionsStatement(past, between.since, place ?? between.before, key, execution.values);
  const [page, state] = await read(execution, [statement, momentStatement(table.name, 0)], "long");
  execution.tally.add(null);
  const { floor } = logState(state!);
  const shown = page!.rows.filter((row) => row[8] === null);
  const last = page!.rows.find((row) => row[8] !== null);
  const [lastSeq, isMore, passed] = [last?.[0], last?.[2] ?? 0, last?.[8] ?? 0] as [number, number, number];
  const isCut = passed > shown.length;
  const before = isCut ? (shown.at(-1)![0] as number) : isMore === 1 ? lastSeq : null;
  const next = before === null ? null : { parameters, place: before };
  const versions = await Promise.all(shown.map((row) => versionOf(row, access, caller, moments)));
  const data = `[${versions.join()}]`;
  const metered = await succeed(200, versions.length, data);
  if (isRefusal(metered)) return metered;
  const members = [
    `"limit":${limit},"floor":${await moments.written(floor)}`,
    await nextCursor(next, request),
    metered,
  ];
  return jsonText(`{"data":${data},"meta":{${members.filter(Boolean).join()}}}`);
}

/** Writes a version of a row as JSON text for the answer, from a row of the result of `versionsStatement`. */
async function versionOf(
  [seq, at, kind, id, key, op, changed, row]: readonly ResultValue[],
  { table, readable }: Access,
  caller: Actor,
  moments: Moments,
): Promise<string> {
  const columns = [...readable.values()];
  const keys = table.primaryKey.map((column) => table.columns.get(column)!);
  const isOwn = caller.kind === "user" && kind === "user" && id === caller.id;
  const by = kind !== null && (seesLog(caller) || isOwn) ? { kind, id } : null;
  const members = [
    `"seq":${await moments.written(seq as number)}`,
    `"at":${at === null ? null : JSON.stringify(new Date(at as number).toISOString())}`,
    `"key":${finishKey(key as string, keys)},"op":"${op}","by":${JSON.stringify(by)}`,
    `"changed":${changed},"row":${row == null ? null : await finishRows(row as string, columns)}`,
  ];
  return `{${members.join()}}`;
}

async function readVersionsRequest(parameters: readonly QueryParameter[], access: Access, moments: Moments) {
  const where = parameters.flatMap(([name, value]) => {
    const column = /^where\[([^[\]]*)\]$/.exec(name)?.[1];
    return column === undefined ? [] : [[column, value] as const];
  });
  const others = new Map(parameters.filter(([name]) => !name.startsWith("where[")));
  const unknown = [...others.keys()].find((name) => !["key", "limit", "since", "until"].includes(name));
  if (unknown !== undefined) return badRequest(`unknown parameter ${quoted(unknown)}`);
  const value = others.get("key");
  if (value !== undefined && where.length > 0) return badRequest("key: give either key or where");
  const key = value !== undefined ? singleKey(access, value) : where.length === 0 ? null : compositeKey(access, where);
  if (isRefusal(key)) return key;
  const limited = parameters.filter(([name]) => name === "limit");
  const list = parseListRequest(limited, access.readable, new Map());
  if (isRefusal(list)) return list;
  const bounds: (RequestedMoment | null)[] = [];
  for (const name of ["since", "until"]) {
    const text = others.get(name);
    const moment = text === undefined ? null : await moments.read(text);
    if (text !== undefined && moment === null)
      return badRequest(`${name}: ${quoted(text)} is neither a time nor a number of an entry`);
    bounds.push(moment);
  }
  return { key, limit: list.limit, since: bounds[0]!, until: bounds[1]! };
}

/**
 * Finds between which entries of the log the answered ones lie: those after the number `since` and before the number
 * `before`. Where the request names a time, the last entry up to that time is looked up.
 */
async function entriesBetween(
  since: RequestedMoment | null,
  until: RequestedMoment | null,
  { table }: Access,
  execution: Execution,
): Promise<{ readonly since: number; readonly before: number }> {
  const times = [since, until].map((moment) => (moment?.kind === "time" ? moment.atMs : null));
  const asked = times.map((atMs) => momentStatement(table.name, atMs ?? 0));
  const found: readonly LogState[] = times.every((atMs) => atMs === null)
    ? []
    : // Looking up a time may take long: entries that other programs made are read one by one.
      (await read(execution, asked, "long")).map(logState);
  const entry = (moment: RequestedMoment | null, i: number): number | null =>
    moment === null ? null : moment.kind === "seq" ? moment.seq : found[i]!.found;
  const first = entry(since, 0);
  return {
    // Where the request's `since` is the number of an entry, the answer includes that entry. Where it is a time, the
    // answer has only what came after it.
    since: first === null ? 0 : since!.kind === "seq" ? first - 1 : first,
    before: (entry(until, 1) ?? Number.MAX_SAFE_INTEGER - 1) + 1,
  };
}
