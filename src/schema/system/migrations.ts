import { boundedSessions } from "./bounded-sessions.js";
import { changeLog } from "./change-log.js";
import { consoleSessions } from "./console-sessions.js";
import { countersThatEnd } from "./counters-that-end.js";
import { emailChanges } from "./email-changes.js";
import { firstTables } from "./first-tables.js";
import { pastMails } from "./past-mails.js";
import { unboundedGaps } from "./unbounded-gaps.js";
import { writesTogether } from "./writes-together.js";

/**
 * A change of the server's own tables. Once released, it is never edited. The tables are not STRICT: no SQLite before
 * 3.37 reads a file with a STRICT table (`relaxed-tables.ts`).
 */
export interface SystemMigration {
  /** The release that introduced the migration. */
  readonly release: string;
  /**
   * In order; they run in one transaction with the other migrations that are due. Foreign keys are enforced, and on D1
   * cannot be switched off, so a table that others refer to must not be dropped and created again. To change the CHECK
   * of a column, a migration adds a new column, copies the values, and gives it the old one's name (`ALTER TABLE … ADD
   * COLUMN`, `UPDATE`, `DROP COLUMN`, `RENAME COLUMN`). It drops indexes on the column before that, and creates them
   * again afterwards.
   */
  readonly statements: readonly string[];
}

/** In the order in which they are carried out. A database's version is how many of them it has had. */
export const systemMigrations: readonly SystemMigration[] = [
  { release: "0.1.0", statements: firstTables },
  { release: "0.2.0", statements: boundedSessions },
  { release: "0.2.0", statements: countersThatEnd },
  { release: "0.2.0", statements: changeLog },
  { release: "0.2.0", statements: writesTogether },
  { release: "0.2.0", statements: emailChanges },
  { release: "0.2.0", statements: consoleSessions },
  { release: "0.2.0", statements: pastMails },
  { release: "0.2.0", statements: unboundedGaps },
];
