import { fragmentProblem } from "../../sqlite/fragment.js";
import { isName } from "../../sqlite/names.js";
import { tokenize, withoutComments } from "../../sqlite/sql-tokens.js";
import { indexCondition } from "../../sqlite/table-ddl.js";
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
 * Facts about the owner's SQL that SQLite evaluates when a row of a table is written: CHECKs, defaults, generated
 * columns, index expressions and conditions, triggers.
 */
export interface OwnersSql {
  /** Whether there is any such SQL. */
  readonly isThere: boolean;
  /**
   * Whether every SQLite engine can evaluate it. False if there are triggers, generated columns, indexed expressions,
   * other expressions that svc.schema.yaml would not allow, collations that are not built into SQLite, or foreign keys
   * to columns that are not unique.
   */
  readonly isCommon: boolean;
}

/**
 * By table whose name a schema allows. SQL of tables that refer to it by foreign keys, directly or through others, is
 * included, because the write may lead to them. Tables that triggers write to need not be included: a trigger is itself
 * SQL by the owner, which makes `isThere` true and `isCommon` false.
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

/** Whether a foreign key leads to unique columns of an existing table. If not, SQLite refuses writes of both tables. */
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
 * SQLite checks a foreign key with the collations of the columns that it refers to, so those matter for writes, too.
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

/**
 * The SQL of a table's CHECKs, of its defaults that are expressions, and of the conditions of its partial indexes. Null
 * stands for a text that cannot be read.
 */
function expressionsOf(table: PhysicalTable): readonly (string | null)[] {
  const { columns, indexes } = table;
  const ddl = ddlOf(table);
  const checks =
    ddl === null ? [null] : [...ddl.checks, ...[...ddl.columns.values()].flatMap((column) => column.checks)];
  const defaults = columns.flatMap((column) => (isExpression(column.default) ? [column.default] : []));
  const conditions = indexes.filter(({ partial }) => partial).map((index) => indexCondition(index.sql ?? ""));
  return [...checks, ...defaults, ...conditions];
}

/**
 * Whether a default has several tokens, so that it may fail when SQLite evaluates it. A single literal or word cannot.
 */
function isExpression(text: string | null): text is string {
  return text !== null && withoutComments(tokenize(text)).length > 1;
}
