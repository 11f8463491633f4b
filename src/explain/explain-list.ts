import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { Tally } from "../metering/tally.js";
import type { Statement } from "../platform/database.js";
import { Memo } from "../platform/memo.js";
import { isMetered } from "../project/is-metered.js";
import type { Expression } from "../rules/ast.js";
import { alwaysTrue, TRUE } from "../rules/fold.js";
import { conjuncts, mentionsRow } from "../rules/walk.js";
import type { Access } from "../tables/access/access.js";
import { BriefTries } from "../tables/execution/brief-tries.js";
import { firstState, listPage } from "../tables/list/list-page.js";
import { tooLargeStatement } from "../tables/list/list-response.js";
import type { ListPage } from "../tables/list/page.js";
import type { ListSource } from "../tables/list/prepare-list.js";
import { planWords } from "../tables/plan/way-words.js";
import { missingIndexes } from "../tables/plan/ways-of-rules.js";
import { incomparableIn, type ListRequest, parseListRequest } from "../tables/request/list-request.js";
import { listStatement } from "../tables/sql/list.js";
import type { ExplainedCounts, Explanation } from "../wire/explanation.js";
import { decidingRule, explanationOf, hasTerms, indexesForExists, refused, type Verdict } from "./answer.js";
import { countedTerms } from "./counted-terms.js";
import type { ExplainRequest } from "./explain-request.js";
import { accessForCall, type ExplainedCall, inTime, readingExecution, wholeAccess } from "./explained-call.js";

/** Explains a list: how its rows are found, how many there are, and how many of them the rule admits. */
export async function explainList(asked: ExplainedCall, { query }: ExplainRequest): Promise<Explanation | Refusal> {
  const whole = wholeAccess(asked);
  const all = requestOf(query, whole);
  if (isRefusal(all)) return all.of("query");
  const access = accessForCall(asked, "list");
  const tally = new Tally();
  const page = await pageFor(asked, access, query, tally);
  const rule = decidingRule(asked, isRefusal(page) ? page : null);
  const statement = statementOf(asked, page);
  const terms = hasTerms(rule) ? await countedTerms(asked, rule, all) : [];
  const found = page === undefined || isRefusal(page) ? null : page;
  const counts = found && (await countsOf(asked, whole, all, found));
  return explanationOf(asked, {
    verdict: verdictOf(page, counts),
    rule,
    terms,
    statement,
    way: found && planWords(found.plan),
    indexes: isRefusal(access) ? [] : indexesFor(asked, access, found),
    rows_read: tally.rowsRead,
    counts,
  });
}

/** The page, or the refusal, as the caller would get it; undefined where it cannot be read in time. */
async function pageFor(
  asked: ExplainedCall,
  access: Access | Refusal,
  query: ExplainRequest["query"],
  tally: Tally,
): Promise<ListPage | Refusal | undefined> {
  if (isRefusal(access)) return access;
  const request = requestOf(query, access);
  return isRefusal(request) ? request : inTime(pageOf(asked, access, request, tally));
}

function requestOf(query: ExplainRequest["query"], access: Access): ListRequest | Refusal {
  const request = parseListRequest(query ?? {}, access.readable, incomparableIn(access));
  if (isRefusal(request) || request.expand.size === 0) return request;
  return badRequest("rows of other tables (expand) are not explained");
}

/** Reads the page of the explained list, within its share of the time that is left. */
function pageOf(asked: ExplainedCall, access: Access, request: ListRequest, tally: Tally): Promise<ListPage | Refusal> {
  const { config, platform } = asked.services;
  const source: ListSource = {
    access,
    scanLimit: config.api.scan_limit,
    metered: isMetered(config),
    prepared: new Memo(0),
    briefTries: new BriefTries(platform.clock),
    tables: { find: () => null },
  };
  const expanded = { ...request, expansions: [], counts: true };
  const execution = readingExecution(asked, tally, pageShare);
  return listPage(expanded, firstState({}, expanded), source, execution).catch(tooLargeStatement);
}

/** Which share of the time that is left the page may take. The rest is for terms and counts. */
const pageShare = 0.6;

/** The statement that read the page, or else the last one that was tried; null where there was none. */
function statementOf({ sent }: ExplainedCall, page: ListPage | Refusal | undefined): Statement | null {
  const tried = sent.filter(({ sql }) => sql.startsWith("WITH "));
  const wanted = page === undefined || isRefusal(page) ? null : listStatement(page.plan).statement.text;
  return tried.findLast(({ sql }) => wanted === null || sql === wanted) ?? null;
}

async function countsOf(
  asked: ExplainedCall,
  whole: Access,
  all: ListRequest,
  page: ListPage,
): Promise<ExplainedCounts | null> {
  const past = { ...whole, key: null, rule: TRUE, readRule: TRUE };
  const request = { ...all, limit: 1, offset: 0, sort: [], select: null };
  const matching = await inTime(pageOf(asked, past, request, new Tally()));
  if (matching === undefined || isRefusal(matching)) return null;
  return {
    rows: matching.total!,
    rows_truncated: matching.truncated,
    allowed: page.total!,
    allowed_truncated: page.truncated,
    offered: page.candidates,
  };
}

function verdictOf(page: ListPage | Refusal | undefined, counts: ExplainedCounts | null): Verdict {
  if (page === undefined) return { allowed: null, reason: "the list was not read in time", refusal: null };
  if (isRefusal(page)) return refused(page);
  const rows = counts === null ? "the rows" : `${atLeast(counts.rows_truncated)}${counts.rows} rows`;
  const admitted = `${atLeast(page.truncated)}${page.total}`;
  return { allowed: true, reason: `the rules admit ${admitted} of ${rows}`, refusal: null };
}

const atLeast = (isTruncated: boolean) => (isTruncated ? "at least " : "");

/**
 * Returns the indexes that would help the list: those by which its rows could be found from the values of the caller,
 * where no index does that yet, and those that would help with the `exists` of its rule.
 */
function indexesFor({ services, table }: ExplainedCall, access: Access, page: ListPage | null): Explanation["indexes"] {
  const forExists = indexesForExists(access);
  const isSought = page === null || page.plan.path.ways !== null || page.plan.path.served.length > 0;
  if (isSought || table.virtual) return forExists;
  const terms: readonly Expression[] = conjuncts(access.rule).filter(
    (term) => !alwaysTrue(term) && mentionsRow(term, "row"),
  );
  const missing = missingIndexes(table.name, terms, services.project.schema, access.catalog);
  return [...missing.map((each) => ({ table: each.table, columns: [each.column] })), ...forExists];
}
