import type { Column, Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { columnsOf, outermostExists } from "../../rules/walk.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import type { Counted } from "../plan-check.js";
import { image } from "./as-of.js";
import { shownColumn } from "./candidates.js";
import { and, chain, commaList, empty, integer, name, param, Slot, type Sql, sql } from "./fragment.js";
import { type Guard, type GuardPart, guardOf } from "./guard.js";
import { changedRow, newRow, storedRow } from "./judged-row.js";
import type { AnswerSource } from "./kept-answers.js";
import { loggedTable } from "./logged.js";
import { namesOf, predicate, type SqlNames } from "./predicate.js";
import { cutAt } from "./preview.js";
import { areExact, probe, probeColumns, probeMatched, probeName, rowsProbed, seeksOf } from "./probe.js";
import { type Returned, returningOf, withKey } from "./returning.js";
import { keyIs, keyOf, keySeek, type Values, valueSql } from "./row-key.js";
import { jsonObject, jsonWithin } from "./wire.js";

/** A statement that writes one row, if its rule is TRUE. It returns the row as `returnedRow` reads it, or no row. */
export interface WriteStatement extends Counted<Sql> {
  /**
   * For metering: a SELECT of one number, how many rows are looked up for the `exists` of the write's rule. Run right
   * before the write. For an update or a delete it returns no row where none has the key; if it returns one, the row
   * exists. Null where the rule has no `exists`.
   */
  readonly probes: Sql | null;
  /**
   * A SELECT that returns a row where there is a row to write and the rule admits it. It tells whether the rule or a
   * trigger has prevented a write.
   */
  readonly admitted: Sql;
  /**
   * A SELECT for right after the write, which undoes the batch where the write has not written its row
   * (`platform/abort.ts`). The reason that it gives begins with what is in the slot `abort`, and then is one of
   * `NotWritten`.
   */
  readonly guard: () => Sql;
  /**
   * What the write answers with. Null where the row cannot be found again by what is known of it: the table is WITHOUT
   * ROWID, and its key is made by a default.
   */
  readonly answer: AnswerSource | null;
}

/**
 * Why a write has written no row: there is none with the key (`missing`); the caller may not read it, which a
 * precondition needs (`unreadable`); the rule denies (`denied`); the row is not of a version that the request names
 * (`stale`); its columns are not what the request expects (`changed:` and for each of these columns, in their order, 1
 * where it differs, else 0); a trigger has ignored the write (`ignored`); its number is too large (`unnumbered`).
 */
export type NotWritten = "missing" | "unreadable" | "denied" | "stale" | "changed" | "ignored" | "unnumbered";

/**
 * What has to hold of a row as it is, beside the rule, for an update or a delete to write it. The caller has to be
 * able to read the row, because the outcome tells something of it.
 */
export interface Precondition {
  readonly readRule: Expression;
  readonly expected: ExpectedVersion | ExpectedValues;
}

/** The row has one of the versions of the JSON array in the slot `versions`, whose members are integers as texts. */
export interface ExpectedVersion {
  readonly kind: "version";
  readonly column: Column;
}

/** Each of these columns is what the request takes it to be, or NULL where that is NULL. */
export interface ExpectedValues {
  readonly kind: "values";
  readonly values: Values;
}

/**
 * Reads a row by its key: `[admitted, json, probed]`. `admitted` is 1 where the rule is TRUE, `json` is NULL for a row
 * that is too large for an answer, and `probed` is the number of rows that were looked up for the rule's `exists`. No
 * row where none has the key. Of values with more than `preview` bytes, `json` has the beginning.
 */
export function getStatement(
  table: Table,
  key: Values,
  rule: Expression,
  output: readonly Column[],
  catalog: Catalog,
  preview: number | null = null,
): Counted<Sql> {
  const nodes = outermostExists(rule);
  const names = namesOf(catalog.tables.get(table.name));
  const t = (column: string) => name(column as Column["name"]);
  const inner: SqlNames = { ...names, row: (column) => sql`_t.${t(column)}` };
  const probes = nodes.map((node) => probe(node, inner, catalog));
  const outer: SqlNames = {
    ...names,
    row: (column) => sql`_w.${t(column)}`,
    exists: (node) => probeMatched(sql`_w.${probeName(nodes.indexOf(node))}`),
  };
  const columns = new Set([
    ...output.map((column) => column.name),
    ...columnsOf(rule, "row"),
    ...table.primaryKey,
  ]);
  const list = [
    ...[...columns].map((column) => shownColumn(catalog, table, sql`_t`, name(column))),
    ...probeColumns(probes),
  ];
  const refer = (column: Column) => sql`_w.${name(column.name)}`;
  const row = jsonWithin(catalog, table, output, refer, sql`NULL`, cutAt(preview, refer));
  // The LIMIT keeps SQLite from flattening the subquery, so that each `exists` is evaluated once. Without an `exists`
  // it is left out, because flattening then saves a temporary table.
  const once = probes.length === 0 ? empty : sql` LIMIT 1`;
  const found = sql`SELECT ${commaList(list)} FROM ${name(table.name)} AS _t WHERE ${keyIs(table, key, sql`_t`, catalog)}${once}`;
  const admitted = sql`CASE WHEN ${predicate(rule, outer)} THEN 1 ELSE 0 END`;
  const statement = sql`SELECT ${admitted} AS admitted, ${row} AS row, ${rowsProbed(probes, sql`_w`)} AS probed FROM (${found}) AS _w`;
  return {
    statement,
    asked: statement,
    exact: areExact(probes),
    seeks: [keySeek("_t", table), ...seeksOf(probes)],
  };
}

/** A SELECT that returns a row where one has the key. It tells 403 from 404 for a row that was not written. */
export function presenceStatement(table: Table, key: Values, catalog: Catalog): Sql {
  return sql`SELECT 1 FROM ${name(table.name)} AS _t WHERE ${keyIs(table, key, sql`_t`, catalog)} LIMIT 1`;
}

/**
 * A SELECT that fails where the statement before it in the batch has changed the row of this key, and the row's image is
 * too large since. To fail, it uses a path of JSON that is none, which `isTooLargeImage` finds in the message.
 */
export function imageCheck(table: Table, key: Values, catalog: Catalog, bytesMax: number): Sql {
  const logged = loggedTable(table, catalog.tables.get(table.name)!);
  const bytes = sql`length(CAST(${image(logged, sql`_t`)} AS BLOB))`;
  const path = sql`iif(${bytes} > ${integer(bytesMax)}, '${imageProblem}', '$')`;
  return sql`SELECT json_type('{}', ${path}) AS checked FROM ${name(table.name)} AS _t WHERE changes() > 0 AND ${keyIs(table, key, sql`_t`, catalog)}`;
}

const imageProblem: Sql = { text: "the image is too large", params: [] };

/** Whether the message of an error says that a value is larger than the database takes, or that `imageCheck` failed. */
export function isTooLargeImage(message: string): boolean {
  return message.includes(imageProblem.text) || message.includes("string or blob too big");
}

/**
 * Inserts a row if the rule is TRUE for it. Defaults that the rule reads are evaluated in the statement, once, so
 * that the rule is judged by the values that are stored. Returns the row, or no row where the rule denies. OR ABORT
 * stands here and in updates because a table of an existing database may be declared with ON CONFLICT REPLACE, which
 * would delete rows without asking their rule. With `unless`, nothing is inserted where its row is there, and a rule that
 * denies undoes the batch.
 */
export function insertStatement(
  table: Table,
  values: Values,
  rule: Expression,
  returned: Returned,
  catalog: Catalog,
  unless: Unless | null = null,
): WriteStatement {
  const returning = withKey(table, values, returningOf(table, returned, catalog), catalog);
  const target = name(table.name);
  const { ignore } = catalog.tables.get(table.name)!.triggers.insert;
  const undoAfter = (admitted: Sql) => () =>
    aborting(ignore ? sql`CASE WHEN EXISTS (${admitted}) THEN 'ignored' ELSE 'denied' END` : sql`'denied'`);
  if (alwaysTrue(rule) && unless === null) {
    const columns = [...values.keys()].map((column) => name(column.name));
    const source =
      columns.length === 0
        ? sql`DEFAULT VALUES`
        : sql`(${commaList(columns)}) VALUES (${commaList([...values.values()].map(valueSql))})`;
    return {
      statement: sql`INSERT OR ABORT INTO ${target} ${source} RETURNING ${returning.row} AS row`,
      probes: null,
      admitted: everyRow,
      ...guardedBy(undoAfter(everyRow)),
      answer: insertedAnswer(table, values, returning.row, returned.rule, catalog),
      asked: null,
      exact: returning.exact,
      seeks: returning.seeks,
    };
  }
  const read = [...columnsOf(rule, "new")].map((column) => table.columns.get(column)!);
  const columns = [...new Set([...values.keys(), ...read])];
  // Without values and without columns in the rule there would be no column to insert, but INSERT … SELECT needs one.
  const inserted = columns.length > 0 ? columns : [[...table.columns.values()][0]!];
  const { cte, names } = newRow(inserted, values, catalog.tables.get(table.name));
  const guard = guardOf([{ terms: [rule], names }], catalog);
  const columnList = commaList(inserted.map((column) => name(column.name)));
  const row = sql`WITH ${cte}`;
  const probes = guard.measured(row, sql`_n`);
  const admitted = sql`${row} SELECT 1 AS admitted FROM _n WHERE ${guard.condition}`;
  const condition = unless === null ? guard.condition : conditionUnless(unless, guard.condition);
  return {
    statement: sql`${row} INSERT OR ABORT INTO ${target} (${columnList}) SELECT ${columnList} FROM _n WHERE ${condition} RETURNING ${returning.row} AS row`,
    probes,
    admitted,
    ...guardedBy(undoAfter(admitted)),
    answer: insertedAnswer(table, values, returning.row, returned.rule, catalog),
    asked: probes,
    exact: guard.exact && returning.exact,
    seeks: [...guard.seeks, ...returning.seeks],
  };
}

/** The row that an insert does without. Both are SQL conditions. */
export interface Unless {
  readonly isThere: Sql;
  /** The row is there, and the caller may know of it. Where they may not, the rule of the insert decides whether they learn it. */
  readonly isKnown: Sql;
}

function conditionUnless({ isThere, isKnown }: Unless, rule: Sql): Sql {
  const create = isThere === isKnown ? sql`1` : sql`NOT ${isThere}`;
  return sql`CASE WHEN ${isKnown} THEN 0 WHEN ${rule} THEN ${create} ELSE ${aborting(sql`'not created'`)} END`;
}

/** The primary key of a row of the table as JSON. */
export function keyJson(table: Table, catalog: Catalog): Sql {
  const refer = ({ name: column }: Column) => sql`${name(table.name)}.${name(column)}`;
  return jsonObject(keyOf(table), refer, catalog.tables.get(table.name));
}

function insertedAnswer(
  table: Table,
  values: Values,
  row: Sql,
  readRule: Expression,
  catalog: Catalog,
): AnswerSource | null {
  const from = insertedRow(table, values, catalog);
  return (
    from && {
      row,
      key: keyJson(table, catalog),
      from,
      readable: readableBy(table, readRule, catalog),
      isNew: sql`1`,
    }
  );
}

/** Whether the rule for reading admits a row of the table. */
function readableBy(table: Table, readRule: Expression, catalog: Catalog): Sql {
  if (alwaysTrue(readRule)) return sql`1`;
  return guardOf([{ terms: [readRule], names: storedRow(table, catalog) }], catalog).condition;
}

function insertedRow(table: Table, values: Values, catalog: Catalog): Sql | null {
  const target = name(table.name);
  const { rowid } = catalog.tables.get(table.name)!;
  if (rowid !== null) return sql`FROM ${target} WHERE ${target}.${name(rowid)} = last_insert_rowid()`;
  const key = keyOf(table);
  if (key.length === 0 || !key.every((column) => values.has(column))) return null;
  const given: Values = new Map(key.map((column) => [column, values.get(column)!]));
  return sql`FROM ${target} WHERE ${keyIs(table, given, target, catalog)}`;
}

/**
 * What undoes the batch after a write that has written no row. `changes()` counts what the write itself has done, without
 * its triggers (https://sqlite.org/c3ref/changes.html).
 */
function guardedBy(undoing: () => Sql): Pick<WriteStatement, "guard"> {
  return { guard: once(() => sql`SELECT CASE WHEN changes() = 1 THEN 1 ELSE ${undoing()} END AS held`) };
}

/**
 * A SELECT for right after an insert, which undoes the batch where the row has a number beyond ±(2^53−1): SQLite numbers
 * the next row after the highest one.
 */
export function rowidCheck(): Sql {
  return sql`SELECT CASE WHEN last_insert_rowid() BETWEEN -9007199254740991 AND 9007199254740991 THEN 1 ELSE ${aborting(sql`'unnumbered'`)} END AS held`;
}

/** An expression that undoes the batch (`platform/abort.ts`). `reason` follows on what is in the slot `abort`. */
export function aborting(reason: Sql): Sql {
  return sql`json_extract('{}', ${param(new Slot("abort"))} || ${reason})`;
}

/** The statement before has written no row. */
const changedNone = sql`changes() = 0`;

/** For `insertStatement`: a row with these values in a key or a unique constraint is there. */
export function isThereWith(table: Table, key: Values, catalog: Catalog): Sql {
  return sql`EXISTS (SELECT 1 ${rowWith(table, key, catalog)})`;
}

/** The row that `isThereWith` finds is there, and the rule for reading admits it. */
export function isReadableWith(table: Table, key: Values, readRule: Expression, catalog: Catalog): Sql {
  return sql`EXISTS (SELECT 1 ${rowWith(table, key, catalog)} AND ${readableBy(table, readRule, catalog)})`;
}

/** `FROM … WHERE …` of the row with these values in a key or a unique constraint. */
export function rowWith(table: Table, key: Values, catalog: Catalog): Sql {
  const target = name(table.name);
  return sql`FROM ${target} WHERE ${keyIs(table, key, target, catalog)}`;
}

/**
 * A SELECT for right after an update of the row with this key that may be missing: undoes the batch where the row is
 * there and was not changed.
 */
export function changedOrMissing(table: Table, key: Values, admitted: Sql, catalog: Catalog): Sql {
  const reason = sql`iif(EXISTS (${admitted}), 'ignored', 'denied')`;
  const isUnchanged = and([changedNone, isThereWith(table, key, catalog)]);
  return sql`SELECT CASE WHEN ${isUnchanged} THEN ${aborting(reason)} ELSE 1 END AS held`;
}

/** A SELECT for right after an insert: undoes the batch where nothing was inserted and no row has this key. */
export function insertedOrThere(table: Table, key: Values, catalog: Catalog): Sql {
  const isIgnored = sql`${changedNone} AND NOT ${isThereWith(table, key, catalog)}`;
  return sql`SELECT CASE WHEN ${isIgnored} THEN ${aborting(sql`'ignored'`)} ELSE 1 END AS held`;
}

/** A function that makes its result at the first call, and keeps it. */
function once(make: () => Sql): () => Sql {
  let made: Sql | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const everyRow = sql`SELECT 1 AS admitted`;

/**
 * Updates a row if the rule is TRUE twice: with the row before the change as `row`, and with the row after it
 * (`docs/reference/rules.md#update-rules`). Where the table has a column for versions, raises it by one. Returns the row,
 * or no row where the rule denies, the precondition does not hold or none has the key.
 */
export function updateStatement(
  table: Table,
  key: Values,
  patch: Values,
  rule: Expression,
  returned: Returned,
  catalog: Catalog,
  precondition: Precondition | null = null,
): WriteStatement {
  const target = name(table.name);
  const { changed, parts } = changedRow(table, patch, catalog);
  const assignments = [...changed].map(([column, value]) => sql`${name(column.name)} = ${valueSql(value)}`);
  const returning = returningOf(table, returned, catalog);
  const found = foundRow(table, key, parts(rule), precondition, catalog);
  return {
    statement: sql`UPDATE OR ABORT ${target} SET ${commaList(assignments)} WHERE ${found.condition} RETURNING ${returning.row} AS row`,
    probes: found.probes,
    admitted: found.admitted,
    guard: found.guard,
    answer: {
      row: returning.row,
      key: keyJson(table, catalog),
      from: found.from,
      readable: readableBy(table, returned.rule, catalog),
      isNew: sql`0`,
    },
    asked: found.probes,
    exact: found.exact && returning.exact,
    seeks: [...found.seeks, ...returning.seeks],
  };
}

/**
 * The condition of an update or a delete: the key, the rule (`parts`) and the precondition; and what tells afterwards why
 * no row met it.
 */
function foundRow(
  table: Table,
  key: Values,
  parts: readonly GuardPart[],
  precondition: Precondition | null,
  catalog: Catalog,
) {
  const target = name(table.name);
  const physical = catalog.tables.get(table.name);
  const hasKey = keyIs(table, key, target, catalog);
  const rule = guardOf(parts, catalog);
  const rows = (...conditions: readonly Sql[]) => sql`FROM ${target} WHERE ${and([hasKey, ...conditions])}`;
  const admitted = sql`SELECT 1 AS admitted ${rows(rule.condition)}`;
  const missing = sql`WHEN NOT EXISTS (SELECT 1 ${rows()}) THEN 'missing'`;
  const built = (rules: Guard, expected: readonly Sql[], reason: () => Sql) => ({
    condition: and([hasKey, rules.condition, ...expected]),
    probes: rules.measured(empty, target, hasKey),
    admitted,
    ...guardedBy(() => aborting(reason())),
    from: sql`FROM ${target} WHERE ${hasKey}`,
    exact: rules.exact,
    seeks: [{ alias: table.name, columns: [...key.keys()].map((column) => column.name) }, ...rules.seeks],
  });
  if (precondition === null)
    return built(
      rule,
      [],
      () => sql`CASE ${missing} WHEN EXISTS (${admitted}) THEN 'ignored' ELSE 'denied' END`,
    );
  const { readRule, expected } = precondition;
  const reading: readonly GuardPart[] = alwaysTrue(readRule)
    ? []
    : [{ terms: [readRule], names: storedRow(table, catalog) }];
  const isExpected = expectation(expected, target, physical);
  return built(guardOf([...reading, ...parts], catalog), [isExpected], () => {
    const readable = readableBy(table, readRule, catalog);
    const unreadable = sql`WHEN NOT EXISTS (SELECT 1 ${rows(readable)}) THEN 'unreadable'`;
    const denied = sql`WHEN NOT EXISTS (${admitted}) THEN 'denied'`;
    const difference = sql`SELECT ${differenceOf(expected, target, physical)} ${rows(sql`NOT (${isExpected})`)}`;
    return sql`CASE ${missing} ${unreadable} ${denied} ELSE ifnull((${difference}), 'ignored') END`;
  });
}

function expectation(
  expected: Precondition["expected"],
  target: Sql,
  physical: CatalogTable | undefined,
): Sql {
  if (expected.kind === "values") return and(sameValues(expected.values, target, physical));
  const version = sql`CAST(${target}.${name(expected.column.name)} AS TEXT)`;
  return sql`(${version} IN (SELECT value FROM json_each(${param(new Slot("versions"))})) IS TRUE)`;
}

/** For each column whether its value is the one that a client was shown. */
function sameValues(values: Values, target: Sql, physical: CatalogTable | undefined): readonly Sql[] {
  return [...values].map(([{ name: column, type }, value]) => {
    const stored = sql`${target}.${name(column)}`;
    // The client may have written the JSON anew.
    if (type === "json")
      return sql`iif(json_valid(${stored}), json(${stored}), ${stored}) IS json(${valueSql(value)})`;
    // A number is shown as its text.
    if (physical?.mixedTexts.has(column)) return sql`CAST(${stored} AS TEXT) IS ${valueSql(value)}`;
    return physical?.collations.has(column)
      ? sql`${stored} COLLATE BINARY IS ${valueSql(value)}`
      : sql`${stored} IS ${valueSql(value)}`;
  });
}

function differenceOf(
  expected: Precondition["expected"],
  target: Sql,
  physical: CatalogTable | undefined,
): Sql {
  if (expected.kind === "version") return sql`'stale'`;
  const digits = sameValues(expected.values, target, physical).map((same) => sql`iif(${same}, '0', '1')`);
  return sql`'changed:' || ${chain(digits, sql` || `)}`;
}

/**
 * Deletes a row if the rule is TRUE. Returns its primary key, or no row where the rule denies, the precondition does not
 * hold or none has the key.
 */
export function deleteStatement(
  table: Table,
  key: Values,
  rule: Expression,
  catalog: Catalog,
  precondition: Precondition | null = null,
): WriteStatement {
  const target = name(table.name);
  const parts: readonly GuardPart[] = alwaysTrue(rule)
    ? []
    : [{ terms: [rule], names: storedRow(table, catalog) }];
  const returned = keyJson(table, catalog);
  const found = foundRow(table, key, parts, precondition, catalog);
  return {
    statement: sql`DELETE FROM ${target} WHERE ${found.condition} RETURNING ${returned} AS row`,
    probes: found.probes,
    admitted: found.admitted,
    guard: found.guard,
    // Of a row that is deleted, whoever deletes it is shown the key alone.
    answer: { row: returned, key: returned, from: found.from, readable: sql`0`, isNew: sql`0` },
    asked: found.probes,
    exact: found.exact,
    seeks: found.seeks,
  };
}
