import { badRequest, type ErrorBody, isRefusal, type Refusal } from "../http/refusal.js";
import { MemoryError, UnavailableError } from "../platform/database.js";
import type { Cipher } from "../platform/platform.js";
import { type Execution, read } from "../tables/execution/execution.js";
import { headStatement } from "../tables/sql/log.js";
import { type Checkpoint, type Mark, openCheckpoint } from "./checkpoint.js";
import { afterRound, copyOn, type ListSources, type Told, toldBy } from "./first-copy.js";
import {
  anew,
  type Copying,
  carriedOver,
  entriesMax,
  type Following,
  judgeCheckpoint,
  type ResetReason,
  roundTo,
} from "./judge-checkpoint.js";
import { logHead, logsOf, type Reading, readChanges, textIn } from "./read-changes.js";
import type { NoPage, SharedPages } from "./shared-pages.js";
import { inOrder, type View } from "./view.js";

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
  /** The names of the members whose rows the client is told whole, from the first page of them to the last. */
  readonly fresh: readonly string[];
  /** Why members are not told, by their names. */
  readonly refused: Readonly<Record<string, ErrorBody>>;
  /** Whether the page tells nothing: no change, no new whole or end of one, and no refusal that the client does not know. */
  readonly isEmpty: boolean;
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

/** The members of an answer or event that are left out where they say nothing, each with a comma before it. */
export function furtherMembers({ fresh, refused, clients }: Pick<PulledPage, "fresh" | "refused" | "clients">): string {
  const members = [
    fresh.length > 0 && `,"fresh":${JSON.stringify(fresh)}`,
    Object.keys(refused).length > 0 && `,"refused":${JSON.stringify(refused)}`,
    clients !== null && `,"clients":${clients}`,
  ];
  return members.filter(Boolean).join("");
}

/** For how many milliseconds after its last push a client is listed in `clients`. */
const pushedMs = 86_400_000;

/**
 * Finds what has changed for a caller since a checkpoint, as a page of at most `limit` changes (docs/sync.md). All
 * pages of a round bring the client to the same moment: the newest one when the first page is asked for, or, for a
 * stream, an earlier one for which a page is already made. Only the client's checkpoint holds how far it has come.
 */
export async function pullPage(
  asked: View,
  pulling: Pulling,
  execution: Execution,
  cipher: Cipher,
  { shared, listSource }: PullSources,
): Promise<PulledPage | Refusal> {
  const { checkpoint: given, fromNow, isStream } = pulling;
  const known = typeof given === "string" ? await openCheckpoint(cipher, given) : given;
  if (given !== null && known === null) return notOurs;
  const hash = async (text: string) => (await shared.hashOf(text)).slice(0, hashLength);
  const forms = await Promise.all(asked.members.map(async ({ name, form }) => ({ name, form: await hash(form) })));
  const carried = known && carriedOver(known, forms);
  const view = carried === null ? asked : inOrder(asked, carried.members);
  const question = headStatement({
    tables: view.logs,
    floorOf: logsOf(view.members.slice(0, carried?.told ?? 0)),
    from: known?.from?.seq ?? null,
    to: known?.round?.to.seq ?? null,
    entriesMax,
    pushing: view.principal === null ? null : { principal: view.principal, sinceMs: execution.nowMs - pushedMs },
  });
  const [answered] = await read(execution, [question], "short");
  const { head, generations, clients } = logHead(answered!);
  const marks = await Promise.all(
    view.members.map(async (member) => ({
      name: member.name,
      form: forms.find(({ name }) => name === member.name)!.form,
      rows: await hash(textIn(member, generations)),
    })),
  );
  const named = { who: await shared.hashOf(view.who), caller: await hash(view.caller), members: marks };
  const judged = carried === null && fromNow ? nothingNew(head.newest) : judgeCheckpoint(carried, named, head);
  const isUnderway = known !== null && (known.round !== null || known.copy !== null);
  const isQuiet = judged.copy === null && !isUnderway && (known === null || head.concerned.size === 0);
  const isRelated = [...head.concerned].some((table) => view.related.has(table));
  const isShort = head.entries <= shortEntriesMax && !isRelated;
  const isShared = isStream && known?.round === null;
  const { concerned } = head;
  const reading: Reading = {
    ...pulling,
    duration: isShort ? "short" : "long",
    execution,
    shared,
    concerned,
    isShared,
    generations,
  };
  const copied = (course: Copying) => copyOn(view, course, head, { ...reading, isShared: false }, listSource);
  const followed = async (course: Following): Promise<Told | Refusal | NoPage> => {
    if (isQuiet) return { changes: "", count: 0, from: course.round.to, round: null, copy: null };
    // Of an earlier moment it is not known which mutations of the caller's clients it includes.
    const to = isShared && clients === null ? shared.momentAfter(course.from, head.newest) : course.round.to;
    const round = { ...course.round, to };
    const page = await readChanges(view, { from: course.from, round }, reading).catch(tooMuchMemory);
    if (isRefusal(page) || typeof page === "string") return page;
    return { ...toldBy(page), ...afterRound(view, course.from, round, page), copy: null };
  };
  let { reset, freshFrom } = judged;
  let told = await (judged.copy === null ? followed(judged) : copied(judged));
  if (told === "gone" || told === "too many") {
    reset = told === "gone" ? "retention" : "budget";
    freshFrom = 0;
    told = await copied(anew(reset));
  }
  // A fresh start needs nothing that the log has lost already. It can fail only if the log is cut faster than it is
  // read.
  if (told === "gone" || told === "too many") throw new UnavailableError("the log is cut while it is read");
  if (isRefusal(told)) return told;
  const { changes, count, ...at } = told;
  const more = at.round !== null || at.copy !== null;
  const to = (at.round?.to ?? at.from)!;
  const fresh = marks.slice(freshFrom).map(({ name }) => name);
  const refused = Object.keys(asked.refused).sort();
  const isRefusedAnew = refused.some((name) => known?.refused.includes(name) !== true);
  return {
    changes: `[${changes}]`,
    count,
    isEmpty: count === 0 && reset === null && fresh.length === 0 && !isRefusedAnew && !isUnderway,
    checkpoint: { ...named, refused, freshFrom: more ? freshFrom : marks.length, ...at },
    more,
    reset,
    fresh,
    refused: Object.fromEntries(Object.entries(asked.refused).map(([name, { error }]) => [name, error])),
    isQuiet,
    isBehind: to.seq < head.newest.seq,
    clients: !more && to.seq >= head.newest.seq ? clients : null,
  };
}

/**
 * How many hex digits of their hashes a checkpoint has for its members. A client that finds two lists with the same
 * digits can deceive itself alone.
 */
const hashLength = 16;

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

const nothingNew = (newest: Mark): Following => ({
  copy: null,
  freshFrom: Number.POSITIVE_INFINITY,
  from: newest,
  round: roundTo(newest),
  reset: null,
});

/**
 * A pull is short work if the log has at most this many entries since the checkpoint, and none of them leads to rows of
 * other tables. Then it takes no longer than reading as many single rows.
 */
const shortEntriesMax = 128;

const notOurs = badRequest("checkpoint: this is none of this server's");
