import { resolve } from "node:path";
import { parseInstant } from "../../encoding/instant.js";
import { storeEntries } from "../../metering/database-journal.js";
import { dayOf } from "../../metering/day-sums.js";
import { listEntries, listGaps } from "../../metering/store.js";
import { readJournals, recoverJournals } from "../../node/journal/recover.js";
import { type ProjectDirectory, readProject } from "../../node/project-directory.js";
import { systemClock, systemRandom } from "../../node/system.js";
import type { Database } from "../../platform/database.js";
import { type Receipt, type ReceiptValues, receiptOf, receiptValues, sumOf } from "../../platform/journal.js";
import { ask } from "../../platform/query.js";
import { type Command, type Invocation, UsageError } from "../command.js";
import { withSystemTables } from "../local-database.js";

/** How many entries are read by one query. An entry holds one receipt if a Worker stored it, else some hundred. */
const pageSize = 250;

/** Prints all receipts (`docs/reference/metering.md#receipts`). */
const usageExport: Command = {
  name: "usage export",
  usage: "[--since ISO] [--format ndjson|csv]",
  summary: "Prints every receipt, each attempt once, including those still in the journal of a running server.",
  options: { since: { type: "string" }, format: { type: "string" } },
  help: [
    "--since ISO      the earliest time, such as 2026-01-31 or 2026-01-31T12:00:00Z (default: all that are kept)",
    "--format FORMAT  ndjson (default) or csv",
    "Standard error lists gaps, where receipts are missing.",
  ],
  positionals: [],
  run: async (invocation) => {
    const fromMs = since(invocation);
    const print = printer(invocation);
    const project = readProject(invocation.directory);
    // The journal first, so that a receipt which a server moves to the database meanwhile is found in at least one of
    // them.
    const journal = await readJournals(journalDirectory(project));
    const waiting = new Map(
      journal.receipts.filter(({ atMs }) => atMs >= fromMs).map((receipt) => [receipt.attemptId, shown(receipt)]),
    );
    await withSystemTables(project, async (database) => {
      for await (const receipt of stored(database, fromMs)) {
        waiting.delete(receipt.attempt_id as string);
        print(receipt);
      }
      for (const receipt of waiting.values()) print(receipt);
      const gaps = await ask(database, listGaps({ fromMs, toMs: Number.MAX_SAFE_INTEGER }));
      for (const { atMs, reason, attemptsMax } of gaps)
        console.error(`gap: ${instant(atMs)} ${reason}, ${extentOf(attemptsMax)}`);
    });
    return 0;
  },
};

/** How many receipts a gap stands for. */
function extentOf(attemptsMax: number | null): string {
  return attemptsMax === null ? "unknown number of receipts" : `up to ${attemptsMax} receipts`;
}

const usageRecover: Command = {
  name: "usage recover",
  usage: "",
  summary: "Stores the receipts that crashed servers left in the journal. Every start of the server does the same.",
  options: {},
  help: [],
  positionals: [],
  run: async (invocation) => {
    const project = readProject(invocation.directory);
    const { receipts, gaps } = await withSystemTables(project, (database) =>
      recoverJournals({
        directory: journalDirectory(project),
        store: (entry) => storeEntries(database, [entry]),
        clock: systemClock,
        random: systemRandom,
      }),
    );
    console.log(`recovered ${receipts} receipts; gaps: ${gaps.length}`);
    for (const { id, attemptsMax } of gaps) console.log(`gap: ${id}, ${extentOf(attemptsMax)}`);
    return 0;
  },
};

function journalDirectory({ directory, config }: ProjectDirectory): string {
  return resolve(directory, config.usage.journal_dir);
}

function since(invocation: Invocation): number {
  const text = invocation.text("since");
  if (text === undefined) return 0;
  const ms = parseInstant(text);
  if (ms === null) throw new UsageError("--since: expected ISO 8601, as 2026-01-31 or 2026-01-31T12:00:00Z");
  return ms;
}

type ReceiptFields = Readonly<Record<string, unknown>>;

/** The fields of an exported receipt, in the order in which `shown` lists their values. */
const columns = [
  "attempt_id",
  "at",
  "principal_kind",
  "principal_id",
  "method",
  "table",
  "action",
  "status",
  "rows_read",
  "rows_written",
  "rows_returned",
  "requests",
  "unknown_reads",
] as const;

function printer(invocation: Invocation): (receipt: ReceiptFields) => void {
  const format = invocation.text("format") ?? "ndjson";
  if (format === "ndjson") return (receipt) => console.log(JSON.stringify(receipt));
  if (format !== "csv") throw new UsageError("--format: expected ndjson or csv");
  console.log(columns.join(","));
  return (receipt) => console.log(columns.map((column) => csvField(receipt[column])).join(","));
}

/** Null is an empty field, any other value is quoted if necessary (RFC 4180). */
function csvField(value: unknown): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function* stored(database: Database, fromMs: number): AsyncGenerator<ReceiptFields> {
  for (let after: [string, string] = [dayOf(fromMs), ""]; ; ) {
    const entries = await ask(database, listEntries(after, pageSize));
    for (const { receipts } of entries)
      for (const values of JSON.parse(receipts) as readonly ReceiptValues[])
        if (values[1] >= fromMs) yield shown(receiptOf(values));
    const last = entries[pageSize - 1];
    if (last === undefined) return;
    after = [last.day, last.id];
  }
}

function shown(receipt: Receipt): ReceiptFields {
  const { requests, unknownReads } = sumOf(receipt);
  const [attemptId, atMs, ...rest] = receiptValues(receipt);
  const values = [attemptId, instant(atMs), ...rest.slice(0, 9), requests, unknownReads];
  return Object.fromEntries(columns.map((column, i) => [column, values[i]]));
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** `svc usage` */
export const commands: readonly Command[] = [usageExport, usageRecover];
