import { fragmentProblem } from "../sqlite/fragment.js";
import { isName } from "../sqlite/names.js";
import { tokenize, withoutComments } from "../sqlite/sql-tokens.js";
import { indexCondition } from "../sqlite/table-ddl.js";
import { descendants } from "./descendants.js";
import {
  ddlOf,
  type Physical,
  type PhysicalForeignKey,
  type PhysicalTable,
  physicalKey,
  physicalTable,
  sameName,
} from "./physical.js";

/**
 * What is known of the SQL by the project's owner that a write of a table evaluates: checks, defaults, generated
 * columns, index expressions and conditions, triggers.
 */
export interface OwnersSql {
  /** Whether a write of the table evaluates any SQL by the project's owner. */
  readonly isThere: boolean;
  /**
   * Whether every SQLite engine can evaluate the owner's SQL: it contains only what svc.schema.yaml could express, all
   * collations are SQLite's own, and references lead to keys.
   */
  readonly isCommon: boolean;
}

/**
 * For each table that a schema can name, the owner's SQL that its writes evaluate. Tables that a write reaches by
 * foreign key actions are included. Tables that triggers write to need not be, because a trigger is itself SQL by the
 * owner.
 */
export function ownersSqlOf(physical: Physical): ReadonlyMap<PhysicalTable, OwnersSql> {
  const named = [...physical.tables.values()].filter(({ name, kind }) => isName(name) && kind !== "shadow");
  return new Map(named.map((table) => [table, reachedFrom(physical, table)]));
}

function reachedFrom(physical: Physical, table: PhysicalTable): OwnersSql {
  const found = [table, ...descendants(physical, table.name)].map((each) => ownersSqlIn(physical, each));
  return {
    isThere: found.some(({ isThere }) => isThere),
    isCommon: found.every(({ isCommon }) => isCommon),
  };
}

function ownersSqlIn(physical: Physical, table: PhysicalTable): OwnersSql {
  const { triggers } = physical;
  const { columns, indexes, name } = table;
  const isOpaque =
    triggers.some(({ on }) => sameName(on, name)) ||
    columns.some(({ kind }) => kind === "generated") ||
    indexes.some((index) => index.columns.some((column) => column.name === null));
  const names = columns.map((column) => column.name);
  const texts = expressionsOf(table);
  return {
    isThere: isOpaque || texts.length > 0,
    isCommon:
      !isOpaque &&
      texts.every((text) => text !== null && fragmentProblem(text, names) === null) &&
      table.foreignKeys.every((key) => leadsToKey(physical, key)) &&
      [table, ...parentsOf(physical, table)].flatMap(indexCollations).every(isEverywhere),
  };
}

/**
 * Whether a foreign key leads to columns that are unique in an existing table. If not, SQLite refuses writes of both
 * tables.
 */
function leadsToKey(physical: Physical, { parent: name, columns }: PhysicalForeignKey): boolean {
  const parent = physicalTable(physical, name);
  if (parent?.kind !== "ordinary") return false;
  const primary = physicalKey(parent);
  const unique = parent.indexes.filter(({ unique, partial }) => unique && !partial);
  const keys = [primary, ...unique.map((index) => index.columns.map((column) => column.name ?? ""))];
  const to = columns.map((column, i) => column.to ?? primary[i] ?? "");
  return keys.some(
    (key) => key.length === to.length && key.every((column) => to.some((each) => sameName(each, column))),
  );
}

/**
 * The tables that foreign keys of a table refer to. Foreign keys are checked with the collations of the parent's key.
 */
function parentsOf(physical: Physical, { foreignKeys }: PhysicalTable): readonly PhysicalTable[] {
  return foreignKeys.flatMap(({ parent }) => physicalTable(physical, parent) ?? []);
}

function indexCollations({ indexes }: PhysicalTable): readonly string[] {
  return indexes.flatMap(({ columns }) => columns.map(({ collation }) => collation));
}

const everywhere = new Set(["binary", "nocase", "rtrim"]);

/** Whether a collation is one of SQLite's own, which every engine has. */
export function isEverywhere(collation: string): boolean {
  return everywhere.has(collation.toLowerCase());
}

/** The texts of a table's checks, defaults and index conditions; null for one that cannot be read. */
function expressionsOf(table: PhysicalTable): readonly (string | null)[] {
  const { columns, indexes } = table;
  const ddl = ddlOf(table);
  const checks =
    ddl === null ? [null] : [...ddl.checks, ...[...ddl.columns.values()].flatMap((column) => column.checks)];
  const defaults = columns.flatMap((column) => (isExpression(column.default) ? [column.default] : []));
  const conditions = indexes.filter(({ partial }) => partial).map((index) => indexCondition(index.sql ?? ""));
  return [...checks, ...defaults, ...conditions];
}

/** Whether a column's default is an expression, which can fail. A single literal or word cannot. */
function isExpression(text: string | null): text is string {
  return text !== null && withoutComments(tokenize(text)).length > 1;
}
