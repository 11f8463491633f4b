import { type ColumnType, exactIntegerMax } from "../../sqlite/column-type.js";

/**
 * How the values of a column are converted to another type. `value` and `keeps` are SQL expressions that contain the
 * column's quoted name.
 */
export interface Conversion {
  readonly value: string;
  /** TRUE for each value, other than NULL, that keeps its meaning when it is converted. Null if every value does. */
  readonly keeps: string | null;
  /** What becomes of the other values: NULL, or a rounded number. */
  readonly otherwise: "null" | "rounded";
  /** Whether the conversion is destructive even if every value converts (docs/reference/schema.md#changes-of-type). */
  readonly narrowing: boolean;
}

/**
 * Null if a plan cannot convert the column. A blob converts to no other type. Only text and json convert to blob, as
 * their UTF-8 bytes.
 */
export function conversion(column: string, from: ColumnType, to: ColumnType): Conversion | null {
  const make = conversions[from][to];
  return make === undefined ? null : make(column);
}

type Make = (column: string) => Conversion;

const widening =
  (value: (c: string) => string): Make =>
  (c) => ({
    value: value(c),
    keeps: null,
    otherwise: "null",
    narrowing: false,
  });

const narrowing =
  (keeps: (c: string) => string, value: (c: string) => string): Make =>
  (c) => ({
    value: `CASE WHEN ${keeps(c)} THEN ${value(c)} END`,
    keeps: keeps(c),
    otherwise: "null",
    narrowing: true,
  });

const asIs = (c: string) => c;
const asText = (c: string) => `CAST(${c} AS TEXT)`;
const asInteger = (c: string) => `CAST(${c} AS INTEGER)`;
const asReal = (c: string) => `CAST(${c} AS REAL)`;
const asBlob = (c: string) => `CAST(${c} AS BLOB)`;
const zeroOrOne = (c: string) => `${c} IN (0, 1)`;
const wordOfBoolean = (c: string) => `CASE ${c} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE CAST(${c} AS TEXT) END`;
/**
 * Turns a real into a text that reads back as the same number. SQLite's own text has 15 digits, which may not be
 * enough.
 */
const realText = (c: string) =>
  `CASE WHEN CAST(CAST(${c} AS TEXT) AS REAL) = ${c} THEN CAST(${c} AS TEXT) ELSE printf('%!.17g', ${c}) END`;
const largestReal = "1.7976931348623157e308";
const isFiniteReal = (c: string) => `${c} BETWEEN -${largestReal} AND ${largestReal}`;
const isIntegerText = (c: string) => `CAST(CAST(${c} AS INTEGER) AS TEXT) = ${c}`;
const isNumberText = (c: string) => `CASE WHEN json_valid(${c}) THEN json_type(${c}) END IN ('integer', 'real')`;
const isWhole = (c: string) => `(abs(${c}) < 9223372036854775807.0 AND CAST(${c} AS INTEGER) = ${c})`;
const isBooleanText = (c: string) => `${c} IN ('true', 'false', '1', '0')`;
const booleanOfText = (c: string) => `${c} IN ('true', '1')`;
const isExactReal = (c: string) => `${c} BETWEEN -${exactIntegerMax} AND ${exactIntegerMax}`;

const conversions: Record<ColumnType, Partial<Record<ColumnType, Make>>> = {
  integer: {
    real: (c) => ({ value: asReal(c), keeps: isExactReal(c), otherwise: "rounded", narrowing: false }),
    text: widening(asText),
    json: widening(asText),
    boolean: narrowing(zeroOrOne, asIs),
  },
  boolean: {
    integer: widening(asIs),
    real: widening(asReal),
    text: widening(wordOfBoolean),
    json: widening(wordOfBoolean),
  },
  real: {
    text: widening(realText),
    json: narrowing(isFiniteReal, realText),
    integer: narrowing(isWhole, asInteger),
    boolean: narrowing(zeroOrOne, asInteger),
  },
  text: {
    blob: widening(asBlob),
    json: narrowing((c) => `json_valid(${c})`, asIs),
    integer: narrowing(isIntegerText, asInteger),
    real: narrowing(isNumberText, asReal),
    boolean: narrowing(isBooleanText, booleanOfText),
  },
  json: {
    text: widening(asIs),
    blob: widening(asBlob),
    integer: narrowing(isIntegerText, asInteger),
    real: narrowing(isNumberText, asReal),
    boolean: narrowing(isBooleanText, booleanOfText),
  },
  blob: {},
};

/**
 * An SQL condition that is TRUE for values of a column, other than NULL, that are not of the column's type. A column of
 * a STRICT table can have such values only if it is declared ANY, or its type is boolean or json, which SQLite does not
 * check.
 */
export function misfit(column: string, type: ColumnType): string {
  return misfits[type](column, `typeof(${column})`);
}

const misfits: Record<ColumnType, (column: string, storage: string) => string> = {
  integer: (_, storage) => `${storage} NOT IN ('null', 'integer')`,
  real: (_, storage) => `${storage} NOT IN ('null', 'real', 'integer')`,
  text: (_, storage) => `${storage} = 'blob'`,
  boolean: (column, storage) => `${storage} <> 'null' AND (${storage} <> 'integer' OR ${column} NOT IN (0, 1))`,
  json: (column, storage) => `${storage} <> 'null' AND (${storage} <> 'text' OR NOT json_valid(${column}))`,
  blob: () => "0",
};
