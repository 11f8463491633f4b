import { longWorkFor } from "../auth/callers/principal.js";
import { parseInstant } from "../encoding/instant.js";
import { parseQueryString, type QueryParameter, quoted } from "../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import {
  type FoundGap,
  listGaps,
  sumUsage,
  type TimeRange,
  type UsageGrouping,
  type UsageTotal,
} from "../metering/store.js";
import { ask, together } from "../platform/query.js";
import { list, object } from "../wire/schema.js";
import { type SummedUsage, summedUsage, type UsageMeta, usageMeta } from "../wire/usage.js";
import { type AdminEndpoint, inQuery, readErrors, withConsole } from "./endpoint.js";
import type { AdminRequest } from "./services.js";

const groupings: readonly UsageGrouping[] = ["table", "principal", "day"];

/**
 * The latest end of a time range, which is also the end where a request names none, in milliseconds since the epoch:
 * the midnight after the day 9999-12-31, which is thus counted whole. Days are compared as text, which works only for
 * years of four digits.
 */
const endOfTime = Date.UTC(10_000, 0);

/**
 * GET /admin/api/usage?from=&to=&group_by=table|principal|day: sums of what requests have cost
 * (docs/reference/metering.md#usage).
 */
export const getUsageEndpoint: AdminEndpoint = {
  method: "GET",
  path: "/admin/api/usage",
  summary: "Sums of receipts",
  callers: withConsole,
  parameters: [inQuery("from"), inQuery("to"), inQuery("group_by", { enum: groupings, default: "table" })],
  answers: { 200: object({ data: list(summedUsage), meta: usageMeta }) },
  errors: readErrors,
  needs: "session",
  handle: getUsage,
};

async function getUsage({
  request,
  services: { platform, config },
  caller,
}: AdminRequest): Promise<Response | Refusal> {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  const asked = readParameters(parameters);
  if (isRefusal(asked)) return asked;
  // The sums are made from the database, but some receipts (records of what requests have cost) are still in the
  // journal. So these are moved to the database first. If the journal cannot be read, the answer leaves them out.
  await platform.journal.collect().catch((error: unknown) => platform.log.error("the journal cannot be read", error));
  const { range, grouping } = asked;
  const usage = together(sumUsage(range, grouping), listGaps(range));
  const [totals, gaps] = await ask(platform.database, usage, longWorkFor(caller, config.api));
  const meta: UsageMeta = { gaps: gaps.map(gapOf) };
  return json({ data: totals.map(summed), meta });
}

function summed(total: UsageTotal): SummedUsage {
  const { key, requests, rowsRead, rowsWritten, rowsReturned, unknownReads } = total;
  return {
    key,
    requests,
    rows_read: rowsRead,
    rows_written: rowsWritten,
    rows_returned: rowsReturned,
    unknown_reads: unknownReads,
  };
}

function gapOf({ atMs, reason, attemptsMax }: FoundGap): UsageMeta["gaps"][number] {
  return { at: new Date(atMs).toISOString(), reason, attempts_max: attemptsMax };
}

function readParameters(
  parameters: readonly QueryParameter[],
): { readonly range: TimeRange; readonly grouping: UsageGrouping } | Refusal {
  const given = new Map(parameters);
  for (const name of given.keys())
    if (!["from", "to", "group_by"].includes(name)) return badRequest(`unknown parameter ${quoted(name)}`);
  if (given.size < parameters.length) return badRequest("a parameter comes twice");
  const instantOf = (name: string, otherwise: number) => (given.has(name) ? parseInstant(given.get(name)!) : otherwise);
  const fromMs = instantOf("from", 0);
  const toMs = instantOf("to", endOfTime);
  if (fromMs === null || toMs === null)
    return badRequest("from, to: expected ISO 8601, as 2026-01-31 or 2026-01-31T12:00:00Z");
  const grouping = groupings.find((name) => name === (given.get("group_by") ?? "table"));
  return grouping === undefined
    ? badRequest(`group_by: expected one of ${groupings.join(", ")}`)
    : { range: { fromMs, toMs: Math.min(toMs, endOfTime) }, grouping };
}
