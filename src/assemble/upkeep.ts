import { purge } from "../auth/accounts/purge.js";
import { type Kept, retireChanges } from "../changes/retention.js";
import { isRefusal } from "../http/refusal.js";
import { databaseJournal } from "../metering/database-journal.js";
import { retireReceipts } from "../metering/retention.js";
import type { Statement } from "../platform/database.js";
import type { Platform } from "../platform/platform.js";
import { retireAnswers } from "../tables/sql/kept-answers.js";
import { retirePushes } from "../writes/ledger.js";
import { currentProject } from "./current-project.js";
import type { Services } from "./services.js";

/** Background work that the runtime runs at certain times. */
export interface Upkeep {
  /** Once at start: sends mails that an earlier process left unsent. */
  resumeMail(): Promise<void>;
  /** Every few seconds: sends mails that are due. */
  deliverMail(): Promise<void>;
  /**
   * Every minute or so: deletes what has expired, and receipts and entries of the log of changes after their retention
   * periods.
   */
  purge(): Promise<void>;
  /**
   * Every few seconds: writes receipts that wait in memory to the journal, and moves those in the journal to the
   * database.
   */
  collectUsage(): Promise<void>;
  /** For runtimes without timers: all of the work that comes up again and again. */
  due(): Promise<void>;
  /**
   * Once at the end: lets the mails that are being sent finish, sends no others, and stores the receipts that wait in
   * memory.
   */
  finish(): Promise<void>;
}

/** Makes the server's background work. */
export function createUpkeep({ api, auth: { outbox }, recorder }: Services): Upkeep {
  const { platform, config, projects } = api;
  const { database, clock, journal } = platform;
  /** The tables that keep a history of their rows; none if no schema can be served. */
  const keptLogs = async (): Promise<readonly Kept[]> => {
    const project = await currentProject(projects, database);
    if (isRefusal(project)) return [];
    return [...project.schema.tables.values()].flatMap(({ name, historyDays }) =>
      historyDays === null ? [] : [{ table: name, days: historyDays }],
    );
  };
  const work: Omit<Upkeep, "due"> = {
    resumeMail: async () => {
      await outbox().makeAllDue();
      await outbox().deliverDue();
    },
    deliverMail: () => outbox().deliverDue(),
    purge: async () => {
      await purge(platform, config);
      // First the journal's receipts go to the database. If a receipt is in the journal twice, the second copy is
      // recognised as a duplicate only while the first is in the database, and deleting old receipts may remove that
      // one.
      await journal.collect();
      await retireReceipts(platform, config.usage.retention_days);
      await retireChanges(database, await keptLogs(), clock.now());
      await retire(platform, retireAnswers);
      await retire(platform, retirePushes);
    },
    collectUsage: async () => {
      if (recorder === null) return;
      await recorder.retry();
      await journal.collect();
    },
    finish: async () => {
      await outbox().finish();
      await recorder?.finish(databaseJournal(database));
    },
  };
  return {
    ...work,
    due: async () => {
      await Promise.all([work.deliverMail(), work.purge(), work.collectUsage()]);
    },
  };
}

const rowsMax = 500;
/** How many batches one call deletes at most, so that it ends even where new rows come as fast as old ones are deleted. */
const roundsMax = 200;

/**
 * Deletes in batches what has been kept for long enough. Of `statements` the
 * first one deletes at most `rowsMax` rows.
 */
async function retire(
  { database, clock }: Pick<Platform, "database" | "clock">,
  statements: (nowMs: number, rowsMax: number) => readonly Statement[],
): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const [deleted] = await database.batch(statements(clock.now(), rowsMax));
    if (deleted!.rowsWritten < rowsMax) return;
  }
}
