import type { Column, Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { columnsOf, outermostExists } from "../../rules/walk.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import type { Counted } from "../plan/plan-check.js";
import {
  and,
  chain,
  commaList,
  empty,
  integer,
  name,
  param,
  Slot,
  type Sql,
  sql,
} from "../sql-text/fragment.js";
import { image } from "./as-of.js";
import { shownColumn } from "./candidates.js";
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

/**
 * A statement that writes one row if its rule is TRUE. It returns the text of the row, which `returnedRow` takes apart,
 * or no row where nothing was written.
 */
export interface WriteStatement extends Counted<Sql> {
  /**
   * A SELECT for metering, to be run right before the write. It returns one number: how many rows are looked up for the
   * `exists` of the write's rule, and of the read rule where there is a precondition. For an update or a delete, no row
   * is returned where no row has the key. Null where these rules have no `exists`.
   */
  readonly probes: Sql | null;
  /**
   * A SELECT that returns a row where there is a row to write and the rule admits it. It tells, after a write that has
   * written nothing, whether the rule or a trigger has prevented it.
   */
  readonly admitted: Sql;
  /**
   * Makes a SELECT to be run right after the write: it undoes the batch where the write has not written its row
   * (`platform/abort.ts`). Its reason is the text in the slot `abort`, followed by a `NotWritten`.
   */
  readonly guard: () => Sql;
  /**
   * How another statement of the transaction finds the row, to keep the write's answer. Null where it cannot be found:
   * the table is WITHOUT ROWID, and a default has made the key of a new row.
   */
  readonly answer: AnswerSource | null;
}

/**
 * Why a write has written no row.
 *
 * - `missing`: no row has the key.
 * - `unreadable`: the write has a precondition, and the caller may not read the row.
 * - `denied`: the rule of the write does not admit the row.
 * - `stale`: the row has none of the versions that the request expects.
 * - `changed`: columns have other values than the request expects. In SQL, `changed:` is followed by a digit for each
 *   of these columns, in their order: 1 where the value differs, else 0.
 * - `ignored`: a trigger has ignored the write (`RAISE(IGNORE)`).
 * - `unnumbered`: the rowid of the new row is too large for a JavaScript number (`rowidCheck`).
 */
export type NotWritten = "missing" | "unreadable" | "denied" | "stale" | "changed" | "ignored" | "unnumbered";

/**
 * What an update or a delete expects of the stored row, beside the rule; otherwise it writes nothing. The caller has to
 * be able to read the row (`readRule`), because the outcome reveals something of it.
 */
export interface Precondition {
  readonly readRule: Expression;
  readonly expected: ExpectedVersion | ExpectedValues;
}

/**
 * A precondition of an update or a delete: the row has one of the expected versions. The slot `versions` has them as a
 * JSON array of integers that are written as texts.
 */
export interface ExpectedVersion {
  readonly kind: "version";
  readonly column: Column;
}

/**
 * A precondition of an update or a delete: each of these columns has the value that the request expects. An expected
 * NULL is met by NULL.
 */
export interface ExpectedValues {
  readonly kind: "values";
  readonly values: Values;
}

/**
 * Makes the statement that reads a row by its primary key. It returns `[admitted, json, probed]`, or no row where none
 * has the key. `admitted` is 1 where the rule is TRUE and else 0. `json` is the row, NULL where it is too large for an
 * answer; values of more than `preview` bytes are shown in it by their beginning. `probed` is how many rows were looked
 * up for the `exists` of the rule.
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
  // The LIMIT keeps SQLite from merging (flattening) the subquery into the SELECT around it, so that each `exists` is
  // evaluated once. Without an `exists` there is no LIMIT, because merging saves a temporary table.
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

/**
 * Makes a SELECT that returns a row where a row has the key, and else none. After a write that has written nothing, it
 * decides between the answers 403 and 404.
 */
export function presenceStatement(table: Table, key: Values, catalog: Catalog): Sql {
  return sql`SELECT 1 FROM ${name(table.name)} AS _t WHERE ${keyIs(table, key, sql`_t`, catalog)} LIMIT 1`;
}

/**
 * Makes a SELECT for right after an update. It fails where that has changed the row with this key, and the row's image
 * (its JSON in the log of changes) now has more than `bytesMax` bytes. To fail it uses an invalid JSON path, which
 * SQLite quotes in its message, where `isTooLargeImage` finds it.
 */
export function imageCheck(table: Table, key: Values, catalog: Catalog, bytesMax: number): Sql {
  const logged = loggedTable(table, catalog.tables.get(table.name)!);
  const bytes = sql`length(CAST(${image(logged, sql`_t`)} AS BLOB))`;
  const path = sql`iif(${bytes} > ${integer(bytesMax)}, '${imageProblem}', '$')`;
  return sql`SELECT json_type('{}', ${path}) AS checked FROM ${name(table.name)} AS _t WHERE changes() > 0 AND ${keyIs(table, key, sql`_t`, catalog)}`;
}

const imageProblem: Sql = { text: "the image is too large", params: [] };

/**
 * Whether an error's message says that the database cannot take a value because it is too large, or that `imageCheck`
 * has failed.
 */
export function isTooLargeImage(message: string): boolean {
  return message.includes(imageProblem.text) || message.includes("string or blob too big");
}

/**
 * Makes the statement that inserts a row if the rule is TRUE for it. It returns the text of the row, or no row where
 * the rule denies or a trigger ignores the insert. Defaults that the rule reads are evaluated once, in the statement,
 * so that the rule tests the values that are stored. With `unless`, nothing is inserted where the row of `unless`
 * exists, and a rule that denies undoes the batch (`Unless.isKnown` says when it is tested).
 *
 * OR ABORT stands in inserts and updates because a table of an existing database may be declared with ON CONFLICT
 * REPLACE, which would delete other rows without testing a rule for them.
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
  // Where neither the request nor the rule names a column, the first column of the table is inserted with its default,
  // because INSERT … SELECT needs at least one column.
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

/** Conditions, in SQL, about an existing row in whose presence an insert (of an upsert) does nothing. */
export interface Unless {
  readonly isThere: Sql;
  /**
   * The condition that the row exists and the caller may know that. Where it is not met, the rule of the insert is
   * tested first: a caller whom it denies is refused, whether the row exists or not.
   */
  readonly isKnown: Sql;
}

function conditionUnless({ isThere, isKnown }: Unless, rule: Sql): Sql {
  const create = isThere === isKnown ? sql`1` : sql`NOT ${isThere}`;
  return sql`CASE WHEN ${isKnown} THEN 0 WHEN ${rule} THEN ${create} ELSE ${aborting(sql`'not created'`)} END`;
}

/** Makes the SQL of the primary key of the written row of a table, as a JSON object. */
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

/** Makes the condition that the rule for reading admits the row of the table that the statement is about. */
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
 * Makes the `guard` of a WriteStatement, whose SELECT undoes the batch where the write right before it has written no
 * row. `undoing` makes the SQL that does so. `changes()` counts only what the write itself has done, without its
 * triggers (https://sqlite.org/c3ref/changes.html).
 */
function guardedBy(undoing: () => Sql): Pick<WriteStatement, "guard"> {
  return { guard: once(() => sql`SELECT CASE WHEN changes() = 1 THEN 1 ELSE ${undoing()} END AS held`) };
}

/**
 * Makes a SELECT for right after an insert: it undoes the batch where the new row's rowid is beyond ±(2^53−1), which a
 * JavaScript number cannot hold. SQLite gives a new row the number after the highest one, so a single high number leads
 * there.
 */
export function rowidCheck(): Sql {
  return sql`SELECT CASE WHEN last_insert_rowid() BETWEEN -9007199254740991 AND 9007199254740991 THEN 1 ELSE ${aborting(sql`'unnumbered'`)} END AS held`;
}

/**
 * Makes an SQL expression that undoes the batch when it is evaluated (`platform/abort.ts`). The reason that it gives is
 * the text in the slot `abort`, followed by `reason`.
 */
export function aborting(reason: Sql): Sql {
  return sql`json_extract('{}', ${param(new Slot("abort"))} || ${reason})`;
}

/** The condition that the statement right before has itself written no row. */
const changedNone = sql`changes() = 0`;

/**
 * Makes the condition that a row exists with these values in its primary key or in a unique constraint. For the insert
 * of an upsert (`Unless`).
 */
export function isThereWith(table: Table, key: Values, catalog: Catalog): Sql {
  return sql`EXISTS (SELECT 1 ${rowWith(table, key, catalog)})`;
}

/**
 * Makes the condition that a row exists with these values in its primary key or in a unique constraint, and that the
 * rule for reading admits it.
 */
export function isReadableWith(table: Table, key: Values, readRule: Expression, catalog: Catalog): Sql {
  return sql`EXISTS (SELECT 1 ${rowWith(table, key, catalog)} AND ${readableBy(table, readRule, catalog)})`;
}

/** `FROM … WHERE …` that finds the row with these values in its primary key or in a unique constraint. */
export function rowWith(table: Table, key: Values, catalog: Catalog): Sql {
  const target = name(table.name);
  return sql`FROM ${target} WHERE ${keyIs(table, key, target, catalog)}`;
}

/**
 * Makes a SELECT for right after the update of an upsert, whose row may be missing. It undoes the batch where a row has
 * this key and yet was not changed, with the reason `denied`, or `ignored` where a trigger has prevented it.
 */
export function changedOrMissing(table: Table, key: Values, admitted: Sql, catalog: Catalog): Sql {
  const reason = sql`iif(EXISTS (${admitted}), 'ignored', 'denied')`;
  const isUnchanged = and([changedNone, isThereWith(table, key, catalog)]);
  return sql`SELECT CASE WHEN ${isUnchanged} THEN ${aborting(reason)} ELSE 1 END AS held`;
}

/**
 * Makes a SELECT for right after the insert of an upsert. It undoes the batch where nothing was inserted and no row has
 * this key: a trigger has ignored the insert.
 */
export function insertedOrThere(table: Table, key: Values, catalog: Catalog): Sql {
  const isIgnored = sql`${changedNone} AND NOT ${isThereWith(table, key, catalog)}`;
  return sql`SELECT CASE WHEN ${isIgnored} THEN ${aborting(sql`'ignored'`)} ELSE 1 END AS held`;
}

/** Makes a function that makes its result at the first call, and keeps it for later ones. */
function once(make: () => Sql): () => Sql {
  let made: Sql | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const everyRow = sql`SELECT 1 AS admitted`;

/**
 * Makes the statement that updates a row. The rule has to be TRUE twice: with the row before the change as `row`, and
 * with the row after it (`docs/reference/rules.md#update-rules`). A column for versions, if the table has one, is
 * raised by one. The statement returns the text of the row, or no row where the rule denies, the precondition does not
 * hold, no row has the key or a trigger ignores the update.
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
 * Makes the condition for the WHERE of an update or a delete: the key, the rule (`parts`) and the precondition. With it
 * comes the SQL that tells afterwards why no row met the condition.
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

/** For each of these columns, the condition that the stored value is the one that the client expects. */
function sameValues(values: Values, target: Sql, physical: CatalogTable | undefined): readonly Sql[] {
  return [...values].map(([{ name: column, type }, value]) => {
    const stored = sql`${target}.${name(column)}`;
    // JSON is compared in SQLite's normal form, because the client may have written the same value with other spaces or
    // escapes.
    if (type === "json")
      return sql`iif(json_valid(${stored}), json(${stored}), ${stored}) IS json(${valueSql(value)})`;
    // In a column of texts that may hold numbers, a number is compared as the text that the client was shown.
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
 * Makes the statement that deletes a row if the rule is TRUE. It returns the row's primary key as JSON, or no row where
 * the rule denies, the precondition does not hold, no row has the key or a trigger ignores the delete.
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
    // A delete is answered with the row's key alone, which the caller is shown whether they may read the row or not.
    answer: { row: returned, key: returned, from: found.from, readable: sql`0`, isNew: sql`0` },
    asked: found.probes,
    exact: found.exact,
    seeks: found.seeks,
  };
}
