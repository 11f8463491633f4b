import { badRequest, Refusal } from "../../http/refusal.js";
import { constantColumn } from "../plan/access-path.js";
import { stepsIn } from "../plan/expansion.js";
import type { ListPlan } from "../plan/list-plan.js";
import type { ListPage } from "./page.js";
import type { PageReport } from "./page-report.js";
import type { ListAccess } from "./prepare-list.js";

/**
 * Why a page was not read: the candidates would have to be sorted, and there are too many of them, or the page begins
 * too deep in the list; or the ways lead to more rows than the scan limit, or pass more rows than that on their way.
 */
export type Unserved = "too_many_to_sort" | "too_deep_to_sort" | "too_many_by_ways" | "too_many_on_ways";

/** Whether a path has served no page. */
export function isUnserved(answer: ListPage | Refusal | Unserved): answer is Unserved {
  return typeof answer === "string";
}

/** How far a page of a list that is sorted may reach, offset and limit together: the sort holds that many rows. */
export const sortedPlacesMax = 10_000;

/** Returns why a plan has read no page: it offers more candidates than it may; null where it does not. */
export function tooMany(
  { path, scanLimit, among, choice }: ListPlan,
  { links, counted, examined }: PageReport,
): Unserved | null {
  if (links > scanLimit && (among !== null || path.ways !== null)) return "too_many_on_ways";
  const sorted = path.ordered ? 0 : examined!.candidates;
  if (path.ways === null) return sorted > scanLimit ? "too_many_to_sort" : null;
  if (choice === "windows") return null;
  const reached = Math.max(sorted, counted?.toTheEnd === false ? counted.candidates : 0);
  return links + reached > scanLimit ? "too_many_by_ways" : null;
}

/** Refuses a page whose expansions would have to examine more rows than the scan limit; null where they do not. */
export function tooManyExpanded({ expansions, scanLimit }: ListPlan, { expanded }: PageReport): Refusal | null {
  const step = stepsIn(expansions).find((_, i) => expanded[i]!.candidates > scanLimit);
  if (step === undefined) return null;
  const { access, to } = step;
  return badRequest(
    `expand: more than ${scanLimit} rows of ${access.table.name} would have to be examined by ${to.name}: a smaller limit or an index that yields the order would help`,
  );
}

/** Makes the refusal of a list or aggregate whose `contains` filters would search more text than the budget allows. */
export function tooMuchToSearch({ searches }: Pick<ListPlan, "searches">): Refusal {
  const columns = searches.map(({ column }) => column).join(", ");
  return badRequest(`${columns}: too much text to search: a filter that an index serves or a shorter text would help`);
}

/** A later page of a list by ways: since the first page, these have come to lead to more rows than the scan limit. */
const moreThanBefore = new Refusal(
  "invalid_cursor",
  "since the cursor was made, the rows that lead to this list have become too many",
);

/** Makes the refusal of a list whose rows no path can find within the limits. Says what would help, such as an index. */
export function unserved({ path, scanLimit, match }: ListPlan, { readable }: ListAccess, why: Unserved): Refusal {
  if (why === "too_many_by_ways" || why === "too_many_on_ways") return moreThanBefore;
  if (match !== null)
    return badRequest(
      why === "too_many_to_sort"
        ? `search: more than ${scanLimit} rows match, which are too many to sort: more words, or longer ones, would help`
        : `what a search finds is sorted, so offset and limit together are ${sortedPlacesMax} at most: a cursor would help`,
    );
  const held = path.served.flatMap((condition) => constantColumn(condition) ?? []);
  const ordered = path.order.filter(({ column: { name } }) => readable.has(name));
  // The message, which names an index that would help, leaves out columns that the caller may not read, and a rowid,
  // which a schema file cannot name in an index.
  const named = [
    ...held.filter((name) => readable.has(name)),
    ...ordered.map(({ column: { name }, descending }) => `${descending ? "-" : ""}${name}`),
  ];
  const help = named.length === 0 ? "a narrower filter" : `an index on [${named.join(", ")}]`;
  return badRequest(
    why === "too_many_to_sort"
      ? `no index serves this sort and there are more than ${scanLimit} rows to sort: ${help} would help`
      : `no index serves this sort, so offset and limit together are ${sortedPlacesMax} at most: a cursor or ${help} would help`,
  );
}
