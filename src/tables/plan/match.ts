import { badRequest, type Refusal } from "../../http/refusal.js";
import type { SearchTokenizer } from "../../project/model.js";
import type { SearchedBy } from "../../schema/physical/search-index.js";
import type { Access } from "../access/access.js";
import type { SearchTerm } from "../request/parse-search.js";
import type { SlotValues } from "../sql-text/fragment.js";
import type { AccessPath, ListConditions } from "./access-path.js";
import { type OrderTerm, rank } from "./order.js";

/** A full-text search by which the rows of a list are found (docs/reference/http.md#search). */
export interface Match {
  /** The searched columns, as positions in the full-text index, without those that the caller may not read. */
  readonly columns: readonly number[];
  readonly by: SearchedBy;
  readonly tokenizer: SearchTokenizer;
  /**
   * Whether rows are ordered by which column holds the words: first those with all words in the first column, and so
   * on, last those with the words in several. False where the request sorts, and where there is one column.
   */
  readonly ranks: boolean;
}

/**
 * Finds the full-text search that a request asks for; null without one. Where the table has no full-text index, or the
 * caller may read none of its columns, the parameter `search` is refused as unknown.
 */
export function matchOf(
  { search, sort }: { readonly search: readonly SearchTerm[] | null; readonly sort: readonly unknown[] },
  { table, catalog, readable }: Pick<Access, "table" | "catalog" | "readable">,
): Match | null | Refusal {
  if (search === null) return null;
  const by = catalog.tables.get(table.name)?.searchedBy ?? null;
  const columns = table.search.flatMap((name, i) => (readable.has(name) ? [i] : []));
  if (by === null || columns.length === 0) return badRequest('unknown parameter "search"');
  const { searchTokenizer: tokenizer } = table;
  if (tokenizer === "trigram" && search.some(({ text }) => [...text].length < trigramCharacters))
    return badRequest(`search: each word or phrase needs ${trigramCharacters} characters or more in this table`);
  return { columns, by, tokenizer, ranks: sort.length === 0 && columns.length > 1 };
}

/** FTS5 finds no shorter text in an index of trigrams. */
const trigramCharacters = 3;

/** Makes the path of a list whose rows a full-text search finds: all of them are tested and sorted. */
export function matchedPath({ filters, rule }: ListConditions, order: readonly OrderTerm[]): AccessPath {
  return {
    ways: null,
    index: null,
    steered: false,
    served: [],
    rest: [...filters, ...rule],
    ordered: false,
    order,
  };
}

/** Returns the term that orders what a full-text search finds: the rank, if the search ranks its rows. */
export function rankTerms({ ranks }: Match): readonly OrderTerm[] {
  return ranks ? [{ column: { name: rank, type: "integer" }, descending: false, nullable: false }] : [];
}

/** Names the slot for an FTS5 query: for all searched columns, or for the one at that position of the index. */
export function matchSlot(column: number | "all"): string {
  return `search.${column}`;
}

/**
 * Returns FTS5 queries for the slots that `matchSlot` names. Each term is a string of FTS5, in which nothing is syntax.
 */
export function matchValues({ columns, tokenizer }: Match, search: readonly SearchTerm[]): SlotValues {
  const query = search.map(({ text, isBeginning }) => {
    const string = `"${text.replaceAll('"', '""')}"`;
    // An index of trigrams finds a text anywhere in a word.
    return isBeginning && tokenizer !== "trigram" ? `${string}*` : string;
  });
  const within = (positions: readonly number[]) =>
    `{${positions.map((position) => `c${position}`).join(" ")}} : (${query.join(" AND ")})`;
  return new Map([
    [matchSlot("all"), within(columns)],
    ...columns.map((column) => [matchSlot(column), within([column])] as const),
  ]);
}
