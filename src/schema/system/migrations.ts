import { firstTables } from "./first-tables.js";

/** One change of the service's own tables. Once released, it is never edited. */
export interface SystemMigration {
  /** The release that brought it. */
  readonly release: string;
  /**
   * In order, carried out in one transaction with the others that are due. Foreign keys are enforced, and on D1 cannot be
   * switched off, so that a table that others refer to is not dropped and made again. A CHECK of a column is changed by a new
   * column that takes the values and then the name (`ALTER TABLE … ADD COLUMN`, `UPDATE`, `DROP COLUMN`, `RENAME COLUMN`).
   */
  readonly statements: readonly string[];
}

/** In the order in which they are carried out. The version of a database is how many of them it has had. */
export const systemMigrations: readonly SystemMigration[] = [{ release: "0.1.0", statements: firstTables }];
