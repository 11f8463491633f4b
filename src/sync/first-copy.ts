import { isRefusal, type Refusal } from "../http/refusal.js";
import type { Access } from "../tables/access/access.js";
import type { Execution } from "../tables/execution/execution.js";
import { firstState, listPage } from "../tables/list/list-page.js";
import type { ListSource } from "../tables/list/prepare-list.js";
import { type Checkpoint, type CopyProgress, type Mark, membersTold, type Round } from "./checkpoint.js";
import { type Copying, type LogHead, roundTo } from "./judge-checkpoint.js";
import {
  type ChangesPage,
  changedSince,
  logsOf,
  membersOf,
  type Reading,
  readChanges,
  type Way,
} from "./read-changes.js";
import type { NoPage } from "./shared-pages.js";
import type { View } from "./view.js";

/** What a page tells the client, and the members of the client's checkpoint after it. */
export interface Told extends Pick<Checkpoint, "from" | "round" | "copy"> {
  /** JSON objects `{table, op, key, row?}` with commas between them. */
  readonly changes: string;
  readonly count: number;
}

/** Gives what a list needs of a table that the caller may read this way. */
export type ListSources = (access: Access) => ListSource;

/** What a page of changes tells. */
export function toldBy({ changes }: ChangesPage): Pick<Told, "changes" | "count"> {
  return { changes: changes.join(), count: changes.length };
}

/** Where a client is after a page of a round: at its end if the page was the last one. */
export function afterRound(view: View, from: Mark, round: Round, { member, after }: ChangesPage) {
  return member < membersOf(view, round)
    ? { from, round: { ...round, member, after } }
    : { from: round.to, round: null };
}

/**
 * Goes on with a first copy (docs/change-log.md#a-first-copy), of all members or of those that the client does not have.
 * It reads the next pages of the lists of all rows, each of which is as of a moment of its own, and brings the rows that were told before to the same moment. Where this takes
 * more pages, they come before the next page of the list. So each page of the list is told, whatever changes meanwhile.
 */
export async function copyOn(
  view: View,
  { copy, from: began, round }: Copying,
  { entries }: LogHead,
  reading: Reading,
  listSource: ListSources,
): Promise<Told | Refusal | NoPage> {
  const { limit, execution } = reading;
  if (round !== null) {
    const page = await readChanges(view, { from: began!, round }, reading);
    if (isRefusal(page) || typeof page === "string") return page;
    return { ...toldBy(page), ...afterRound(view, began!, round, page), copy };
  }
  // Leaves room for what has changed.
  const most = began === null ? limit : limit - Math.min(entries, Math.floor(limit / 2));
  const changes: string[] = [];
  let count = 0;
  let characters = 0;
  let from = began;
  let at: CopyProgress | null = copy;
  while (at !== null && count < most && characters < pageCharacters(view)) {
    const page = await nextRows(view, at, most - count, execution, listSource);
    if (isRefusal(page)) return page;
    const tables = logsOf(view.members.slice(0, membersTold(at)));
    const changed = from === null ? none : await changedSince(tables, from, execution);
    if (changed === "gone") return "gone";
    const concerned = changed === "many" ? new Set<string>(tables) : changed;
    const isChanged = concerned.size > 0;
    // What this page tells already is as of `from`.
    if (isChanged && count > 0) break;
    if (page.count > 0) changes.push(page.changes);
    count += page.count;
    characters += page.changes.length;
    if (isChanged) {
      const round = { ...roundTo(page.moment), copied: at };
      const since = await changesTo(view, { from: from!, round }, limit - count, { ...reading, concerned });
      if (isRefusal(since) || typeof since === "string") return since;
      if (since.count > 0) changes.push(since.changes);
      return { changes: changes.join(), count: count + since.count, ...since.after, copy: page.next };
    }
    from = page.moment;
    at = page.next;
    // A page that ends before the member does has come to a limit.
    if (at?.state != null) break;
  }
  return { changes: changes.join(), count, from, round: null, copy: at };
}

/** From how many characters of changes on no further list is read for a page: half of what a page may have. */
const pageCharacters = ({ members }: View) => Math.floor(members[0]!.access.catalog.pageBytesMax / 2);

const none: ReadonlySet<string> = new Set();

/** The first page of a round, of `most` changes at most, and where the client is after it. */
async function changesTo(view: View, way: Way, most: number, reading: Reading) {
  if (most === 0) return { changes: "", count: 0, after: way };
  const page = await readChanges(view, way, { ...reading, limit: most });
  if (isRefusal(page) || typeof page === "string") return page;
  return { ...toldBy(page), after: afterRound(view, way.from, way.round, page) };
}

/** The next page of a first copy. */
interface CopiedRows extends Pick<Told, "changes" | "count"> {
  /** The moment of which its rows are. */
  readonly moment: Mark;
  /** Where the next page begins; null where this is the last one. */
  readonly next: CopyProgress | null;
}

async function nextRows(
  view: View,
  { member, state }: CopyProgress,
  limit: number,
  execution: Execution,
  listSource: ListSources,
): Promise<CopiedRows | Refusal> {
  const { access, list } = view.members[member]!;
  const catalog = { ...access.catalog, pageBytesMax: Math.floor(access.catalog.pageBytesMax / 2) };
  const request = { ...list, limit, expansions: [] };
  const source = listSource({ ...access, catalog });
  const page = await listPage(request, state ?? firstState([], request), source, execution);
  if (isRefusal(page)) return page;
  const { rows, rowsReturned, position, next } = page;
  const isLast = next === null && member + 1 === view.members.length;
  return {
    changes: rows,
    count: rowsReturned,
    moment: position!,
    next: isLast ? null : next === null ? { member: member + 1, state: null } : { member, state: next },
  };
}
