import { callerAs } from "../auth/callers/caller-as.js";
import { isRefusal, Refusal } from "../http/refusal.js";
import type { Explanation } from "../wire/explanation.js";
import { explainHistory } from "./explain-history.js";
import { explainList } from "./explain-list.js";
import type { ExplainRequest } from "./explain-request.js";
import { explainRow } from "./explain-row.js";
import { type ExplainedCall, type ExplainServices, timerOf } from "./explained-call.js";

/**
 * Says why a caller may, or may not, do something with a table (docs/reference/http.md#explain). The verdict comes from
 * the same SQL condition that the call itself would use, and nothing is written. Returns the refusal `not_found` where
 * there is no such caller or table, and `bad_request` where the call itself would refuse the key, the values or the
 * list as malformed, or where the list asks for `expand`, which is not explained.
 */
export async function explain(question: ExplainRequest, services: ExplainServices): Promise<Explanation | Refusal> {
  const { project, platform, database } = services;
  const table = project.schema.tables.get(question.table);
  if (table === undefined || project.catalog.unsupported.reads.has(table.name)) return noSuchTable;
  const unfit = project.unfit.get(table.name);
  if (unfit !== undefined) return unfit;
  const nowMs = platform.clock.now();
  const found = await callerAs(database, question.as, nowMs);
  if (isRefusal(found)) return found;
  const { action } = question;
  const asked: ExplainedCall = {
    ...found,
    services,
    table,
    action,
    nowMs,
    sent: [],
    timer: timerOf(services),
  };
  if (action === "history") return explainHistory(asked, question);
  return action === "read" && question.key === null ? explainList(asked, question) : explainRow(asked, question);
}

const noSuchTable = new Refusal("not_found", "no such table");
