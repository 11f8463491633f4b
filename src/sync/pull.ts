import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { MemoryError, UnavailableError } from "../platform/database.js";
import type { Cipher } from "../platform/platform.js";
import { type Execution, read } from "../tables/execution/execution.js";
import { headStatement } from "../tables/sql/log.js";
import { type Checkpoint, type Mark, openCheckpoint } from "./checkpoint.js";
import { afterRound, copyOn, type ListSources, type NoPage, type Told, toldBy } from "./first-copy.js";
import {
  anew,
  type Copying,
  entriesMax,
  type Following,
  judgeCheckpoint,
  type ResetReason,
  roundTo,
} from "./judge-checkpoint.js";
import { logHead, type Reading, readChanges } from "./read-changes.js";
import type { SharedPages } from "./shared-pages.js";
import type { View } from "./view.js";

/** A page of the changes that a client is told. */
export interface PulledPage {
  /** A JSON array of `{table, op, key, row?}`. */
  readonly changes: string;
  readonly count: number;
  /** The client's checkpoint after this page. */
  readonly checkpoint: Checkpoint;
  /** Whether more pages follow until the client has the whole state of the moment that it is being brought to. */
  readonly more: boolean;
  readonly reset: ResetReason | null;
  /** Whether no row was looked at: the log has no new entry of a table that matters to the client. */
  readonly isQuiet: boolean;
  /** Whether the log has entries that are newer than the moment which the client is being brought to. */
  readonly isBehind: boolean;
  /**
   * The number of the last mutation of each client of the caller that has pushed lately: a JSON object by the names of
   * the clients. The state that this page completes includes what these mutations have done. Null if there are no such
   * clients, or if the page does not complete the newest state.
   */
  readonly clients: string | null;
}

/** The member `clients` of an answer or event, with a comma before it; empty where it is null. */
export const clientsMember = (clients: string | null) => (clients === null ? "" : `,"clients":${clients}`);

/** For how many milliseconds after its last push a client is listed in `clients`. */
const pushedMs = 86_400_000;

/**
 * Finds what has changed for a caller since a checkpoint, as a page of at most `limit` changes (docs/sync.md). All
 * pages of a round bring the client to the same moment: the newest one when the first page is asked for, or, for a
 * stream, an earlier one for which a page is already made. Only the client's checkpoint holds how far it has come.
 */
export async function pullPage(
  view: View,
  pulling: Pulling,
  execution: Execution,
  cipher: Cipher,
  { shared, listSource }: PullSources,
): Promise<PulledPage | Refusal> {
  const { checkpoint: given, limit, fromNow, isStream } = pulling;
  const known = typeof given === "string" ? await openCheckpoint(cipher, given) : given;
  if (given !== null && known === null) return notOurs;
  const question = headStatement({
    tables: view.logs,
    from: known?.from?.seq ?? null,
    to: known?.round?.to.seq ?? null,
    entriesMax,
    related: view.related,
    pushing: view.principal === null ? null : { principal: view.principal, sinceMs: execution.nowMs - pushedMs },
  });
  const [asked] = await read(execution, [question], "short");
  const { head, generations, clients } = logHead(asked!);
  const hashed = {
    who: await shared.hashOf(view.who),
    view: await shared.hashOf(`${view.text} ${generations}`),
  };
  const judged = known === null && fromNow ? nothingNew(head.newest) : judgeCheckpoint(known, hashed, head);
  const isQuiet = judged.copy === null && (known === null || (known.round === null && !head.isConcerned));
  const viewName = `${hashed.view} ${view.readOfCaller}`;
  const isShort = head.entries <= shortEntriesMax && !head.isRelated;
  const reading: Reading = { ...pulling, duration: isShort ? "short" : "long", execution, shared };
  const copied = (course: Copying) => copyOn(view, course, head, reading, listSource);
  const followed = async (course: Following): Promise<Told | Refusal | NoPage> => {
    if (isQuiet) return { changes: "", count: 0, from: course.round.to, round: null, copy: null };
    const isShared = isStream && known?.round === null;
    const to = isShared ? shared.momentAfter(viewName, course.from, head.newest) : course.round.to;
    const round = { ...course.round, to };
    const readPage = () => readChanges(view, { ...course, round }, reading).catch(tooMuchMemory);
    const pageName = JSON.stringify([viewName, course.from, round, limit]);
    const page = await (isStream ? shared.page(pageName, readPage) : readPage());
    if (isRefusal(page) || typeof page === "string") return page;
    return { ...toldBy(page), ...afterRound(view, course.from, round, page), copy: null };
  };
  let { reset } = judged;
  let told = await (judged.copy === null ? followed(judged) : copied(judged));
  if (told === "gone" || told === "too many") {
    reset = told === "gone" ? "retention" : "budget";
    told = await copied(anew(reset));
  }
  // A fresh start needs nothing that the log has lost already. It can fail only if the log is cut faster than it is
  // read.
  if (told === "gone" || told === "too many") throw new UnavailableError("the log is cut while it is read");
  if (isRefusal(told)) return told;
  const { changes, count, ...at } = told;
  const more = at.round !== null || at.copy !== null;
  const to = (at.round?.to ?? at.from)!;
  return {
    changes: `[${changes}]`,
    count,
    checkpoint: { ...hashed, ...at },
    more,
    reset,
    isQuiet,
    isBehind: to.seq < head.newest.seq,
    clients: !more && to.seq >= head.newest.seq ? clients : null,
  };
}

/**
 * What a page of changes is where SQLite lacks the memory for their images. To ask for it again would not help, whereas
 * a new whole reads each row by itself.
 */
function tooMuchMemory(error: unknown): "too many" {
  if (error instanceof MemoryError) return "too many";
  throw error;
}

/** What a client asks for, apart from the tables and rows (`View`). */
export interface Pulling {
  /** As in `ParsedPull`. */
  readonly checkpoint: string | Checkpoint | null;
  readonly limit: number;
  /** As in `ParsedPull`. */
  readonly fromNow: boolean;
  readonly scanLimit: number;
  /** Whether a stream that is already open looks again; it shares its pages with other streams. */
  readonly isStream: boolean;
}

/** What pulls share with other requests. */
export interface PullSources {
  readonly shared: SharedPages;
  readonly listSource: ListSources;
}

const nothingNew = (newest: Mark): Following => ({ copy: null, from: newest, round: roundTo(newest), reset: null });

/**
 * A pull is short work if the log has at most this many entries since the checkpoint, and none of them leads to rows of
 * other tables. Then it takes no longer than reading as many single rows.
 */
const shortEntriesMax = 128;

const notOurs = badRequest("checkpoint: this is none of this server's");
