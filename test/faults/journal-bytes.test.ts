import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { storeEntries } from "../../src/metering/database-journal.js";
import { entryBytes, sumUsage } from "../../src/metering/store.js";
import { openLibsql } from "../../src/node/database/libsql.js";
import { FileJournal } from "../../src/node/journal/journal.js";
import { systemRandom } from "../../src/node/system.js";
import type { JournalEntry, Receipt } from "../../src/platform/journal.js";
import { ask } from "../../src/platform/query.js";
import { bringUpSystemTables } from "../../src/schema/system/bring-up.js";
import { figure } from "../support/figures.js";
import { ManualClock } from "../support/manual-clock.js";
import { projectDirectory } from "../support/project-directory.js";
import { receipt } from "../support/receipts.js";

/** How much of a day is simulated. It runs in `npm run test:faults` alone. */
const hours = Number(process.env.HOURS ?? 0.1);
vi.setConfig({ testTimeout: 36_000_000 });

const perSecond = 15_000;
/** As servers do. */
const collectEverySeconds = 15;
/** The least that `usage.journal_max_bytes` may be, and for the short form a quarter of it. */
const bytesMax = hours < 1 ? 16_777_216 : 67_108_864;

/** How many bytes are in the files of a directory and its directories. */
function bytesIn(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(directory, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

/** For how long after the journal begins to sum every read is made. */
const wholeSeconds = 60;

/**
 * The journal's own code with files and a database, and a clock that jumps. Until a minute after the journal begins to sum,
 * every receipt of each second is made; from then on those of one second in fifteen, as the others would raise the counts
 * of the same sums. So what is measured is the number of bytes, not the speed.
 */
it.skipIf(process.env.HOURS === undefined)(
  `${hours} hours of ${perSecond} anonymous reads a second stay within the bound, and their sums are exact`,
  async () => {
    const folder = projectDirectory("notes: { columns: { id: { type: integer, primary_key: true } } }\n");
    mkdirSync(join(folder, ".svc"));
    const file = join(folder, ".svc/data.db");
    const database = openLibsql({ path: file, synchronous: "normal" });
    await bringUpSystemTables(database, 0);
    const storedBytes = () => ask(database, entryBytes());
    const clock = new ManualClock();
    const directory = join(folder, ".svc/usage");
    const store = (entry: JournalEntry) => storeEntries(database, [entry]);
    const journal = new FileJournal({
      directory,
      store,
      clock,
      random: systemRandom,
      bound: { bytesMax, storedBytes },
    });
    journal.open();

    const sent = { requests: 0, rowsRead: 0, rowsReturned: 0, unknownReads: 0, alone: 0 };
    const record = (atMs: number): Receipt | null => {
      const i = sent.requests++;
      const rowsRead = i % 100 === 0 ? null : i % 7;
      if (rowsRead === null) sent.unknownReads++;
      sent.rowsRead += rowsRead ?? 0;
      sent.rowsReturned += i % 3;
      const id = `019b76da-a800-7000-8000-${String(i).padStart(12, "0")}`;
      const anonymous = { principalKind: "anonymous", principalId: null, method: "GET" } as const;
      const made = receipt(id, { ...anonymous, atMs, rowsRead, rowsReturned: i % 3 });
      return journal.sum(made) ? null : made;
    };

    const fromMs = clock.now();
    let sumsAfter: number | null = null;
    let most = 0;
    for (let second = 0; second < hours * 3600; second++) {
      const isWhole = sumsAfter === null || second - sumsAfter < wholeSeconds;
      if (isWhole || second % collectEverySeconds === 0) {
        const alone: Receipt[] = [];
        for (let i = 0; i < perSecond; i++) {
          const made = record(clock.now() + Math.floor((i * 1000) / perSecond));
          if (made !== null) alone.push(made);
        }
        sent.alone += alone.length;
        if (alone.length > 0) await journal.append({ receipts: alone, gaps: [] });
        else sumsAfter ??= second;
      }
      clock.advance(1000);
      if (second % collectEverySeconds === collectEverySeconds - 1) {
        most = Math.max(most, bytesIn(directory) + (await storedBytes()));
        await journal.collect();
        most = Math.max(most, bytesIn(directory) + (await storedBytes()));
        await setImmediate();
      }
    }
    await journal.close();
    most = Math.max(most, await storedBytes());
    expect(sumsAfter).not.toBeNull();
    expect(most).toBeLessThanOrEqual(bytesMax);
    const toMs = fromMs + 2 * 86_400_000;
    const { alone, ...counts } = sent;
    const [usage] = await ask(database, sumUsage({ fromMs, toMs }, "table"));
    expect(usage).toEqual({ key: "notes", ...counts, rowsWritten: 0 });
    const [found] = await database.query([
      {
        sql: "SELECT sum(value ->> '$[11]' IS NULL), sum(ifnull(value ->> '$[11][0]', 1)), count(*) FROM _usage_entries, json_each(receipts)",
        params: [],
      },
    ]);
    const kept = found!.rows[0]!;
    expect(kept.slice(0, 2)).toEqual([alone, counts.requests]);
    const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(0)} MB`;
    figure(
      "journal",
      `${hours} h of ${perSecond} anonymous reads a second, ${counts.requests} of them sent`,
      megabytes(bytesMax),
      `${sumsAfter} s`,
      megabytes(most),
      `${Number(kept[2]) - alone} sums and ${alone} receipts`,
      megabytes(statSync(file).size),
    );
    await database.close();
  },
);
