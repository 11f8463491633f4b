import { numberAlone } from "../../changes/erasure.js";
import { holdsOf, type LoggedColumn, type LoggedTable, pathOf } from "../../changes/image.js";
import { isLogTrigger, logTriggers } from "../../changes/log-triggers.js";
import { newestEntry } from "../../changes/transactions.js";
import type { Schema, Table } from "../../project/model.js";
import { quoteText } from "../../sqlite/sql-tokens.js";
import { managedByChange, managedTriggers } from "../physical/managed-triggers.js";
import { collationsOf, isLoose, type Physical, type PhysicalTrigger, physicalTable } from "../physical/physical.js";
import { dropTrigger, type Keepsakes, nothingKept } from "./ddl.js";
import { keepsakes } from "./keepsakes.js";
import { isPlaceholder, isRenamed, type Renames } from "./renames.js";
import { destructiveIfAny, type Step } from "./steps.js";
import type { TableChange } from "./table-change.js";

/** The steps of a plan for the log of changes, and the server's own triggers that they leave in place. */
export interface HistorySteps {
  /**
   * These steps drop triggers of the log, and the history of tables that no longer keep any. They come before all steps
   * that change tables.
   */
  readonly dropped: readonly Step[];
  /**
   * These steps create triggers of the log. They come after all other steps of the plan, also after renames: SQLite
   * runs the trigger that was created last first, and the log's triggers have to run before all others.
   */
  readonly created: readonly Step[];
  readonly staying: readonly PhysicalTrigger[];
}

/** What the steps for the triggers of the log of changes are made of: the two schemas, and the rest of the plan. */
export interface HistoryChange {
  readonly before: Schema;
  readonly proposed: Schema;
  readonly renames: Renames;
  readonly changes: readonly TableChange[];
  readonly physical: Physical;
  /** The server's own triggers in the database that other steps do not drop. */
  readonly ownTriggers: readonly PhysicalTrigger[];
  /** The names of the tables that get other triggers in this plan. */
  readonly preceded: ReadonlySet<string>;
}

/**
 * Makes the triggers of the log of changes match the proposed schema. A table's triggers are created anew if their SQL
 * would differ, or if the table is rebuilt. They are also created anew for the tables of `preceded`, because the
 * log's triggers have to be the newest. A table that keeps its history and its primary key also keeps its log entries,
 * under the new names.
 */
export function historySteps({
  before,
  proposed,
  renames,
  changes,
  physical,
  ownTriggers,
  preceded,
}: HistoryChange): HistorySteps {
  const oldName = (name: string) => renames.tables.get(name) ?? name;
  const wanted = inOrder([...proposed.tables.values()], renames)
    .filter(({ historyDays }) => historyDays !== null)
    .map((table) => {
      const change = changes.find(({ named }) => named === table);
      const set = managedTriggers(table).size === 0 ? [] : managedByChange(table).map(({ name }) => name);
      const triggers = logTriggers(loggedOf(table, change, physical), set);
      const isThere = [...triggers].every(([name, sql]) =>
        ownTriggers.some((trigger) => trigger.name === name && trigger.sql === sql),
      );
      const isSame = isThere && !change?.rebuild && !isRenamed(renames, table.name, [...table.columns.keys()]);
      return { table, change, triggers, isSame, isKept: isSame && !preceded.has(table.name) };
    });
  const kept = new Set(wanted.filter(({ isKept }) => isKept).flatMap(({ triggers }) => [...triggers.keys()]));
  const old = ownTriggers.filter((trigger) => isLogTrigger(trigger) && !kept.has(trigger.name));
  const follows = (name: string) => wanted.find(({ table }) => oldName(table.name) === name);
  const ended = [...before.tables.values()].filter(
    ({ name, historyDays }) => historyDays !== null && follows(name) === undefined,
  );
  const stays = (name: string) => changes.some(({ current }) => current.name === name);
  return {
    dropped: [
      ...[...new Set(old.map(({ on }) => on))].map(
        (table): Step => ({
          kind: "drop_trigger",
          description: `drop the triggers that log changes of ${table}`,
          statements: old.filter(({ on }) => on === table).map(({ name }) => dropTrigger(name)),
          hazards: [],
          isOwn: true,
        }),
      ),
      ...ended.map(
        ({ name }): Step => ({
          kind: "drop_history",
          description: `drop the history of ${name}`,
          statements: [...forgotten(name), `DELETE FROM _history WHERE tbl = ${quoteText(name)}`],
          passes: [{ rows: entriesOf(name), work: "delete" }],
          // If the plan drops the table, that step already says that its rows are lost.
          hazards: stays(name) ? [destructiveIfAny(`the history of ${name} is dropped`, countEntries(name))] : [],
        }),
      ),
    ],
    created: wanted
      .filter(({ isKept }) => !isKept)
      .map(({ table, change, triggers, isSame }): Step => {
        if (isSame)
          return {
            kind: "create_trigger",
            description: `log changes of ${table.name} before its other triggers run`,
            statements: [...triggers.values()],
            hazards: [],
            isOwn: true,
          };
        const current = change?.current;
        const isNew = current === undefined || current.historyDays === null;
        const carried = isNew ? [] : carriedOver(table, change!, renames);
        return {
          kind: "create_history",
          description: isNew ? `keep history of ${table.name}` : `keep history of ${table.name} as it is now`,
          statements: [
            ...carried,
            isNew || change!.keyChanged ? begun(table.name) : touched(table.name),
            ...triggers.values(),
          ],
          ...(isNew ? {} : { isOwn: true }),
          passes: isNew || carried.length === 0 ? [] : [{ rows: entriesOf(current.name), work: "write" }],
          hazards:
            !isNew && change!.keyChanged
              ? [destructiveIfAny(`the history of ${current.name} is dropped with its key`, countEntries(current.name))]
              : [],
        };
      }),
    staying: ownTriggers.filter((trigger) => !old.includes(trigger)),
  };
}

/**
 * Renamed tables come first, in the order of their renames, because log entries are found by the name of their table:
 * those of one have to leave a name before those of another get it.
 */
function inOrder(tables: readonly Table[], renames: Renames): readonly Table[] {
  const order = [...renames.tables.keys()];
  const place = ({ name }: Table) => (order.includes(name) ? order.indexOf(name) : order.length);
  return tables.toSorted((a, b) => place(a) - place(b));
}

const forgotten = (table: string) => [
  `UPDATE _changes SET ${numberAlone} WHERE tbl = ${quoteText(table)} AND seq = (SELECT max(seq) FROM _changes)`,
  `DELETE FROM _changes WHERE tbl = ${quoteText(table)}`,
];

const entriesOf = (table: string) => `_changes WHERE tbl = ${quoteText(table)}`;
const countEntries = (table: string) => `SELECT count(*) AS entries FROM ${entriesOf(table)}`;

/** The version that is being applied: its row is inserted into `_schema` before the steps of the plan run. */
const appliedVersion = "(SELECT max(version) FROM _schema)";
const appliedAt = "(SELECT applied_at FROM _schema ORDER BY version DESC LIMIT 1)";

/** Begins the history of a table: its log is complete from the newest log entry on. */
function begun(table: string): string {
  return `INSERT OR REPLACE INTO _history (tbl, generation, floor, floor_at) VALUES (${quoteText(table)}, ${appliedVersion}, ${newestEntry}, ${appliedAt})`;
}

/**
 * Gives the history of a table a new generation. A client that has synced rows of the table before then fetches all of
 * them again.
 */
function touched(table: string): string {
  return `UPDATE _history SET generation = ${appliedVersion} WHERE tbl = ${quoteText(table)}`;
}

/**
 * Changes a table's entries in the log to the new names of the table and its columns, and takes dropped columns out of
 * them. If the primary key changes, the entries are deleted instead.
 */
function carriedOver(table: Table, { current, dropped, keyChanged }: TableChange, renames: Renames): readonly string[] {
  if (keyChanged) return [...forgotten(current.name), `DELETE FROM _history WHERE tbl = ${quoteText(current.name)}`];
  const renamed = current.name === table.name ? [] : [...moved("_changes"), ...moved("_history")];
  function moved(log: string): readonly string[] {
    return [`UPDATE ${log} SET tbl = ${quoteText(table.name)} WHERE tbl = ${quoteText(current.name)}`];
  }
  const images = (value: string) =>
    `UPDATE _changes SET old = ${value} WHERE tbl = ${quoteText(table.name)} AND old IS NOT NULL`;
  return [
    ...renamed,
    ...dropped.map(({ name }) => images(`json_remove(old, ${pathOf(name)})`)),
    ...[...(renames.columns.get(table.name) ?? [])]
      .filter(([, from]) => !isPlaceholder(from))
      .map(([name, from]) =>
        // The operator `->` gives the value as JSON text, so that no digit of a number is lost.
        images(`json_remove(json_set(old, ${pathOf(name)}, old -> ${pathOf(from)}), ${pathOf(from)})`),
      ),
  ];
}

/** The table as it will be after the plan. `change` is undefined if it is new or adopted. */
function loggedOf(table: Table, change: TableChange | undefined, physical: Physical): LoggedTable {
  const source = change?.physical ?? physicalTable(physical, table.name);
  const isMade = change?.rebuild || source === undefined;
  const kept: Keepsakes = change?.rebuild ? keepsakes(change) : nothingKept;
  const collations = isMade ? kept.collations : collationsOf(source);
  const target = [...(change?.target ?? table).columns.keys()];
  const columns = [...table.columns.values()].map(({ name, type }, i): LoggedColumn => {
    const old = target[i]!;
    const physicalColumn = source?.columns.find((column) => column.name === old);
    const declared = isMade || physicalColumn === undefined ? kept.declaredTypes.get(old) : undefined;
    const isAny =
      isMade || physicalColumn === undefined
        ? !table.strict || declared?.toUpperCase() === "ANY"
        : isLoose(source, physicalColumn);
    return { name, holds: holdsOf(type, isAny), collation: collations.get(old) ?? null };
  });
  const key = table.primaryKey.map((name) => columns.find((column) => column.name === name)!);
  return { table: table.name, columns, key };
}
