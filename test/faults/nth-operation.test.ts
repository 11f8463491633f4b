import { afterAll, describe, expect, it } from "vitest";
import type { Database } from "../../src/platform/database.js";
import { type Answer, expectRefusal } from "../support/client.js";
import {
  type Asking,
  config,
  newWorld,
  schema,
  steps,
  type Upkeep,
  type Usual,
  type World,
} from "../support/everyday.js";
import { figure } from "../support/figures.js";
import { Calls, databaseThrough, type Failing, journalThrough, mailThrough, ways } from "../support/nth-call.js";
import { allRows, changes, type Row, type Rows } from "../support/row-changes.js";
import { serve } from "../support/server.js";
import { SwitchableJournal } from "../support/switchable-journal.js";

const kinds = ["database", "journal", "mail"] as const;
type Kind = (typeof kinds)[number];

/** `npm run test:faults` has every call fail. */
const stride = process.env.ROUNDS === undefined ? 40 : 1;

/** A mail that somebody had in hand is nobody's after so long. */
const leaseMs = 60_000;
const hourMs = 3_600_000;

/** The everyday steps on a server of their own, whose calls of one kind are counted and one of which may fail. */
interface Run {
  readonly kind: Kind;
  readonly calls: Calls;
  readonly world: World;
  readonly journal: SwitchableJournal;
  /** All rows, read behind the calls that are counted. */
  rows(): Promise<Rows>;
  /** Of every answer that told one. */
  readonly attemptIds: Set<string>;
  /** What must not be. */
  readonly halfDone: string[];
  readonly otherAnswers: string[];
}

/** What a step does where nothing fails. */
interface Effect {
  readonly changes: readonly string[];
  /** Of rows of the owner's tables. */
  readonly data: unknown;
  /** Calls made, from the first step to the end of this one. */
  readonly made: number;
}

async function begin(kind: Kind, failing: Failing | null): Promise<Run> {
  const calls = new Calls(failing);
  const others = new Calls();
  const callsOf = (of: Kind) => (of === kind ? calls : others);
  const journal = new SwitchableJournal(true);
  let behind!: Database;
  const server = await serve({
    schema,
    config,
    journal: journalThrough(callsOf("journal"), journal),
    wrap: (database) => {
      behind = database;
      return databaseThrough(callsOf("database"), database);
    },
  });
  server.mail.send = mailThrough(callsOf("mail"), server.mail);
  const world = await newWorld(server);
  calls.begin();
  const rows = () => allRows(behind);
  return { kind, calls, world, journal, rows, attemptIds: new Set(), halfDone: [], otherAnswers: [] };
}

/** Whoever runs it does so again a few seconds later. */
async function work({ calls, world }: Run, { work }: Upkeep): Promise<void> {
  const hadFailed = calls.haveFailed;
  try {
    await work(world.server);
  } catch (error) {
    if (hadFailed || !calls.haveFailed) throw error;
    await work(world.server);
  }
}

/** A request, and where its answer is 503 the same one again, as its client would send it. `usual` is null at first. */
async function request(run: Run, asking: Asking, usual: Effect | null): Promise<Effect> {
  const { calls, world } = run;
  const { messages } = world.server.mail;
  const mailsBefore = messages.length;
  const isWatched = usual === null || (!calls.haveFailed && calls.failWithin(usual.made));
  const before = isWatched ? await run.rows() : null;
  let answer = await ask(run, asking);
  const all = before === null ? [] : changes(before, await run.rows());
  const effect = {
    changes: lasting(all, messages.length > mailsBefore),
    data: dataOfRows(answer),
    made: calls.made,
  };
  let expected = asking.usual;
  const isHit = isWatched && usual !== null;
  if (isHit) judgeEffect(run, answer, effect, usual);
  if (isHit && answer.status === 503) {
    judgeUnavailable(run, answer);
    if (effect.changes.length > 0) expected = asking.again ?? asking.usual;
    answer = await ask(run, asking);
  } else judgeMetering(run, answer, isHit);
  judgeAnswer(run, answer, expected, usual);
  if (answer.status < 300) asking.learn?.(world, answer);
  if (asking.mails !== undefined) await awaitMail(run, asking.mails, mailsBefore);
  return effect;
}

type Answered = Answer & { readonly path: string };

async function ask({ world, attemptIds }: Run, asking: Asking): Promise<Answered> {
  const [by, method, path, body] = asking.ask(world);
  const isYaml = typeof body === "string";
  const headers = { "Content-Type": isYaml ? "application/yaml" : "application/json" };
  const init = body === undefined ? {} : { headers, body: isYaml ? body : JSON.stringify(body) };
  const answer = await by.send(method, path, init);
  await world.server.settled();
  const id = meteringOf(answer)?.attempt_id;
  if (id !== undefined) attemptIds.add(id);
  return { ...answer, path };
}

interface Metering {
  readonly attempt_id: string;
  readonly status: string;
}

function meteringOf({ body }: Answer): Metering | undefined {
  return (body as { meta?: { metering?: Metering } } | undefined)?.meta?.metering;
}

function dataOfRows({ path, body }: Answered): unknown {
  return path.startsWith("/api/") ? (body as { data?: unknown }).data : undefined;
}

/**
 * Changes that a request makes in one go. Attempts at a password are counted before anybody knows how they end, and whether
 * a mail waits or was sent is all the same.
 */
function lasting(all: readonly string[], isMailed: boolean): readonly string[] {
  const isWritten = all.includes("_outbox +");
  const others = all.filter((change) => !/^(_throttle|_outbox|_past_mails) /.test(change));
  return isMailed || isWritten ? [...others, "a mail"] : others;
}

/** All or nothing; and all of it, where the answer says so. */
function judgeEffect({ kind, halfDone }: Run, { path, status }: Answered, effect: Effect, usual: Effect): void {
  // While a receipt waits in memory, the database has a gap for it.
  const changes = effect.changes.filter((change) => kind !== "journal" || !change.startsWith("_usage_gaps "));
  const [is, whole] = [changes.join(), usual.changes.join()];
  const isNothing = status === 503 && is === "";
  if (!isNothing && is !== whole) halfDone.push(`${path}, ${status}: ${is} of ${whole}`);
}

function judgeUnavailable({ kind, otherAnswers }: Run, answer: Answered): void {
  expectRefusal(answer, 503, answer.path.startsWith("/auth/") ? "auth_unavailable" : "unavailable");
  expect(answer.headers.getSetCookie()).toEqual([]);
  // No answer depends on a mail or a receipt.
  if (kind !== "database") otherAnswers.push(`${answer.path}: 503`);
}

/** The journal's outage is told by the one answer that it befell. */
function judgeMetering({ kind, otherAnswers }: Run, answer: Answered, isHit: boolean): void {
  const told = meteringOf(answer);
  const status = isHit && kind === "journal" ? "unrecorded" : "recorded";
  if (told !== undefined && told.status !== status) otherAnswers.push(`${answer.path}: ${told.status}`);
}

function judgeAnswer({ otherAnswers }: Run, answer: Answered, expected: Usual, usual: Effect | null): void {
  const { path, status, text } = answer;
  if (typeof expected !== "number") {
    if (status !== expected[0]) otherAnswers.push(`${path}: ${status} ${text}`);
    // Which columns a refusal names is not what is tested here.
    else expectRefusal(answer, ...expected, columnsOf(answer));
  } else if (status !== expected) otherAnswers.push(`${path}: ${status} ${text}`);
  else if (usual !== null) expect(dataOfRows(answer)).toEqual(usual.data);
}

function columnsOf({ body }: Answered): readonly string[] {
  return (body as { error?: { columns?: string[] } }).error?.columns ?? [];
}

/** Where it is not there at once, a later delivery sends it. */
async function awaitMail({ calls, world: { server } }: Run, to: string, after: number): Promise<void> {
  const isThere = () => server.mail.messages.slice(after).some((message) => message.to === to);
  if (!isThere() && calls.haveFailed) {
    server.clock.advance(leaseMs);
    await server.upkeep.deliverMail();
  }
  expect(isThere(), `a mail to ${to}`).toBe(true);
}

/** What is left of a run: the same, whatever had failed. */
async function end(run: Run): Promise<unknown> {
  const { clock, upkeep } = run.world.server;
  run.calls.end();
  clock.advance(hourMs);
  await upkeep.deliverMail();
  await upkeep.collectUsage();
  const rows = await run.rows();
  const of = (table: string) => [...rows.get(table)!.values()];
  judgeSessions(run, of);
  judgeMails(run, of);
  judgeReceipts(run);
  for (const line of run.world.server.log.lines)
    if (/^(a request|authentication) failed/.test(line)) run.otherAnswers.push(line);
  // Ids are random, so that of a creator only the kind is compared.
  const users = of("_users")
    .map(
      ({ id, created_at, created_by, ...user }): Row => ({
        ...user,
        createdBy: String(created_by).split(":")[0]!,
      }),
    )
    .sort((a, b) => (String(a.email_key) < String(b.email_key) ? -1 : 1));
  return { users, notes: of("notes"), pairs: of("pairs"), schemas: of("_schema").length };
}

type RowsOf = (table: string) => readonly Row[];

/** No refresh token was consumed without a successor, and none has two. */
function judgeSessions({ halfDone }: Run, of: RowsOf): void {
  const unused = of("_refresh_tokens").filter(({ used_at }) => used_at === null);
  for (const { id } of of("_sessions")) {
    const { length } = unused.filter(({ session_id }) => session_id === id);
    if (length !== 1) halfDone.push(`a session has ${length} refresh tokens`);
  }
}

function judgeMails({ kind, world, halfDone }: Run, of: RowsOf): void {
  // Whoever asks for another address once more is told of that once more, in the same words.
  const texts = world.server.mail.messages
    .filter(({ subject }) => !subject.includes("is about to have another address"))
    .map(({ to, text }) => `${to}\n${text}`);
  if (of("_outbox").length > 0) halfDone.push("a mail was never sent");
  // Whether a mailer that failed has sent it, nobody knows.
  if (new Set(texts).size < texts.length && kind !== "mail") halfDone.push("a mail was sent twice");
}

/** Every receipt that an answer has told of is there; and of what was read and written before the storage failed, nothing is known. */
function judgeReceipts({ journal, attemptIds, halfDone }: Run): void {
  const receipts = journal.entries.flatMap((entry) => entry.receipts);
  const noted = new Set(receipts.map(({ attemptId }) => attemptId));
  for (const id of attemptIds) if (!noted.has(id)) halfDone.push(`the receipt ${id} is missing`);
  for (const { status, rowsRead, rowsWritten } of receipts)
    if (status === 503 && (rowsRead !== null || rowsWritten !== null))
      halfDone.push(`a receipt of 503 with ${rowsRead} and ${rowsWritten} rows`);
}

/** What the steps do, one by one, and what is left in the end. */
interface Course {
  readonly effects: readonly (Effect | null)[];
  readonly end: unknown;
}

async function runThrough(run: Run, usual: Course | null): Promise<Course> {
  const effects: (Effect | null)[] = [];
  for (const [i, step] of steps.entries()) {
    if ("work" in step) await work(run, step);
    effects.push("work" in step ? null : await request(run, step, usual?.effects[i] ?? null));
  }
  return { effects, end: await end(run) };
}

/** So many there are at least, or the steps are none that tell much. */
const callsMin = { database: 60, journal: 15, mail: 4 };
const counts = { database: 0, journal: 0, mail: 0, halfDone: 0, otherAnswers: 0 };

describe.each(kinds)("where one call of the %s fails, whichever", (kind) => {
  it.each(ways)("%s it has done its work, the answers are allowed ones, and nothing half done stays", async (way) => {
    const smooth = await begin(kind, null);
    const usual = await runThrough(smooth, null);
    expect([smooth.halfDone, smooth.otherAnswers]).toEqual([[], []]);
    expect(smooth.calls.made).toBeGreaterThanOrEqual(callsMin[kind]);
    const halfDone: string[] = [];
    const otherAnswers: string[] = [];
    for (let nth = 1; nth <= smooth.calls.made; nth += stride) {
      const run = await begin(kind, { nth, way });
      const course = await runThrough(run, usual).catch((cause: unknown) => {
        throw new Error(`where call ${nth} fails`, { cause });
      });
      expect(course.end, `where call ${nth} fails`).toEqual(usual.end);
      halfDone.push(...run.halfDone.map((what) => `call ${nth}: ${what}`));
      otherAnswers.push(...run.otherAnswers.map((what) => `call ${nth}: ${what}`));
      if (way === ways[0]) counts[kind]++;
    }
    counts.halfDone += halfDone.length;
    counts.otherAnswers += otherAnswers.length;
    expect({ halfDone, otherAnswers }).toEqual({ halfDone: [], otherAnswers: [] });
  });
});

afterAll(() => {
  const { database, journal, mail, halfDone, otherAnswers } = counts;
  figure(
    "strength",
    "a fault in the Nth call, for every N",
    `${database} database calls, ${journal} journal calls, ${mail} mail calls, each failing in 2 ways; partly done: ${halfDone}; unexpected responses: ${otherAnswers}`,
  );
});
