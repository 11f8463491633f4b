import { meantOrKnown } from "../problems/did-you-mean.js";
import { dottedPath } from "../problems/dotted-path.js";
import { pointAt } from "../problems/point-at.js";
import { type Problem, shown } from "../problems/problem.js";
import type { ColumnType } from "../sqlite/column-type.js";
import { isStorableInteger } from "../sqlite/column-type.js";
import { columnName, isName } from "../sqlite/names.js";
import { type ProofScope, type ProvedSql, proveSql, type SqlProblem } from "../sqlite/proof.js";
import { type ResultItem, resultItems } from "../sqlite/result-columns.js";
import { isKeyword } from "../sqlite/sql-tokens.js";
import { schemaFile } from "./file-names.js";
import type { NamedOperation, OperationParam, OperationStep, ReturnedColumn, Table } from "./model.js";
import { parsePart } from "./parse-part.js";
import { operationSchema, type ParamSource, type StepSource, stepSchema } from "./schema.js";
import { isPlainObject } from "./valibot-problems.js";

/** The values that every step may use besides the operation's parameters, written `:auth_id` and so on. */
export const givenParameters: ReadonlyMap<string, ColumnType> = new Map([
  ["auth_id", "text"],
  ["auth_email", "text"],
  ["auth_role", "text"],
  ["now", "integer"],
]);

/** Names that `client.ops` cannot offer: JavaScript looks for such members itself, to await or to serialize an object. */
const reservedNames: ReadonlySet<string> = new Set(["then", "catch", "finally", "toJSON"]);
const reservedName = "JavaScript itself asks objects for a member of this name: choose another name";

/** How many steps an operation may have. */
const stepsMax = 20;

/** The tables that the SQL of steps may name. */
export interface OperationSurroundings {
  /** The names of all tables, also of those that could not be read. */
  readonly names: Iterable<string>;
  /** The tables that could be read. */
  readonly tables: ReadonlyMap<string, Table>;
  /**
   * Whether all tables could be read as a whole. If not, a column that is not found may be one that could not be read,
   * so that is no problem of the operation.
   */
  readonly areWhole: boolean;
}

/**
 * Parses `$operations` as far as it can be read, and adds its problems to `problems`. The rules of the operations stay
 * texts: `parseRules` parses them.
 */
export function parseOperations(
  value: unknown,
  surroundings: OperationSurroundings,
  problems: Problem[],
): ReadonlyMap<string, NamedOperation> {
  if (value === undefined) return new Map();
  if (!isPlainObject(value)) {
    problems.push({ file: schemaFile, path: "$operations", message: "expected a map of operations" });
    return new Map();
  }
  return new Map(
    Object.entries(value).flatMap(([name, written]) => {
      const operation = operationFrom(name, inLongForm(written), surroundings, problems);
      return operation === null ? [] : [[name, operation] as const];
    }),
  );
}

/** The operation with each parameter in its long form, as `{ type: text }` for `text`. */
function inLongForm(written: unknown): unknown {
  if (!isPlainObject(written) || !isPlainObject(written.params)) return written;
  const params = Object.entries(written.params).map(([name, param]) => [
    name,
    typeof param === "string" ? { type: param } : param,
  ]);
  return { ...written, params: Object.fromEntries(params) };
}

/** Null if nothing of the operation can be read. */
function operationFrom(
  name: string,
  written: unknown,
  { names, tables, areWhole }: OperationSurroundings,
  problems: Problem[],
): NamedOperation | null {
  const at = operationPath(name);
  const problem = (path: string, message: string) => problems.push({ file: schemaFile, path: `${at}${path}`, message });
  if (!isName(name)) problem("", nameRule);
  if (reservedNames.has(name)) problem("", reservedName);
  const source = parsePart(operationSchema, written, at, problems);
  if (source === null) return null;
  const params = new Map<string, OperationParam>();
  for (const [key, param] of source.params) {
    const message = paramNameProblem(key) ?? defaultProblem(param);
    if (message !== null) problem(`.${dottedPath(["params", key])}`, message);
    if (isName(key))
      params.set(key, {
        ...param,
        name: columnName(key),
        check: param.check ?? null,
        default: param.default,
      });
  }
  const writtenParams = Object.keys((written as { params?: object }).params ?? {});
  const scope = {
    tables: new Set([...names].map((each) => each.toLowerCase())),
    others: new Set<string>(),
    parameters: new Set([...writtenParams, ...givenParameters.keys()]),
  };
  const steps = source.steps.flatMap((writtenStep, index): OperationStep[] => {
    const path = `.steps.${index}`;
    const step = parsePart(stepSchema, writtenStep, at + path, problems);
    if (step === null) return [];
    const report: ReportStep = (key, message) => problem(path + key, message);
    return stepFrom(step, scope, { tables, areWhole }, report);
  });
  if (source.steps.length === 0) problem(".steps", "expected at least one step");
  if (source.steps.length > stepsMax) problem(".steps", `more than ${stepsMax} steps`);
  const [, second] = steps.filter(({ returns }) => returns !== null);
  if (second !== undefined) problem(".steps", "two steps return something: at most one does");
  const unreadParams = new Set(writtenParams.filter((each) => !params.has(each)));
  return { name, params, allow: source.allow ?? null, steps, ...(unreadParams.size > 0 && { unreadParams }) };
}

/** `key` is the end of the problem's path in the file, such as `.sql`. */
type ReportStep = (key: string, message: string) => void;

/** The step in the form in which it can be run, in a list that is empty if `proveSql` refuses the step's SQL. */
function stepFrom(
  step: StepSource,
  scope: ProofScope,
  surroundings: Pick<OperationSurroundings, "tables" | "areWhole">,
  report: ReportStep,
): OperationStep[] {
  const { proved, problems } = proveSql(step.sql, scope);
  for (const found of problems ?? []) report(".sql", withPlace(step.sql, found));
  for (const { key, message } of stepProblems(step, proved)) report(key, message);
  if (proved === undefined) return [];
  const returns = step.returns === "none" ? null : step.returns;
  const columns = returns === null ? [] : columnsOf(proved, step, surroundings, report);
  const expect = step.expect === undefined ? null : Number(step.expect);
  const { else: otherwise = "conflict", message = null } = step;
  return [{ statement: proved, expect, otherwise, message, returns, columns }];
}

/**
 * The path of an operation in svc.schema.yaml, such as `$operations.pay`, or of a part of it, to which `steps` lead.
 */
export function operationPath(name: string, ...steps: readonly string[]): string {
  return dottedPath(["$operations", name, ...steps]);
}

const nameRule = "not a name: expected letters, digits and _, a letter first, at most 63";

function paramNameProblem(name: string): string | null {
  if (givenParameters.has(name)) return `:${name} is given by the server: choose another name`;
  return isName(name) ? null : nameRule;
}

function defaultProblem({ type, default: value, nullable }: ParamSource): string | null {
  if (value === undefined) return null;
  if (value === null) return nullable ? null : "a default of null needs nullable: true";
  if (isOfType(type, value)) return null;
  return type === "json" || type === "blob"
    ? `a ${type} parameter has no default but null`
    : `the default is not of type ${type}`;
}

function isOfType(type: ColumnType, value: string | number | bigint | boolean): boolean {
  switch (type) {
    case "integer":
      return typeof value === "bigint" && isStorableInteger(value);
    case "real":
      return typeof value === "number" ? Number.isFinite(value) : typeof value === "bigint";
    case "text":
      return typeof value === "string" && !/[\0\p{Surrogate}]/u.test(value);
    case "boolean":
      return typeof value === "boolean";
    case "json":
    case "blob":
      return false;
  }
}

/**
 * Keys of a step that do not fit together, or do not fit its SQL. `key` is the end of the problem's path, such as
 * `.returns`.
 */
function stepProblems(
  { expect, returns, as, ...step }: StepSource,
  proved: ProvedSql | undefined,
): readonly { readonly key: string; readonly message: string }[] {
  const problems: { key: string; message: string }[] = [];
  if (step.else !== undefined && expect === undefined)
    problems.push({ key: ".else", message: "else says what a broken expect answers: there is no expect" });
  if (step.message !== undefined && expect === undefined)
    problems.push({ key: ".message", message: "message says why a broken expect refuses: there is no expect" });
  if (returns === "none" && as.size > 0)
    problems.push({ key: ".as", message: "as gives types to what a step returns: say returns: one or many" });
  if (proved === undefined) return problems;
  const hasRows = proved.kind === "select" || resultItems(proved) !== null;
  if (proved.kind === "select" && returns === "none" && expect === undefined)
    problems.push({ key: "", message: "a step that only reads does nothing without expect or returns" });
  if (!hasRows && returns !== "none")
    problems.push({ key: ".returns", message: "the statement returns nothing: add RETURNING" });
  if (proved.kind !== "select" && hasRows && returns === "none")
    problems.push({ key: ".sql", message: "RETURNING without returns: say returns: one or many" });
  return problems;
}

/**
 * The columns that a step returns, with their types; reports mistakes, such as a name that comes twice or a type that
 * is not known. A column of a table has the type that the schema declares, unless `as:` of the step gives another one;
 * the type of any other expression has to stand under `as:`.
 */
function columnsOf(
  proved: ProvedSql,
  { sql, as }: StepSource,
  { tables, areWhole }: Pick<OperationSurroundings, "tables" | "areWhole">,
  problem: (key: string, message: string) => void,
): readonly ReturnedColumn[] {
  const found = resultItems(proved);
  if (found === null) return [];
  if (found.problem !== undefined) {
    problem(".sql", withPlace(sql, found.problem));
    return [];
  }
  // With an outer join, even a column that is declared NOT NULL can be NULL in the result: if the joined table has no
  // row.
  const isJoinedOutside = proved.tokens.some((token) =>
    ["left", "right", "full"].some((word) => isKeyword(token, word)),
  );
  const names = new Set<string>();
  const columns = found.items.flatMap((item): ReturnedColumn[] => {
    const { name, from, to } = item;
    const declared = declaredColumn(item, tables);
    const notNull = !isJoinedOutside && declared?.notNull === true;
    const type = as.get(name) ?? declared?.type;
    const message = names.has(name)
      ? `two columns that are returned are called ${shown(name)}`
      : isName(name)
        ? type === undefined && areWhole
          ? `the type of ${name} is not known: say it, as in as: {${name}: integer}`
          : null
        : `a column that is returned is called ${shown(name)}: ${nameRule}`;
    names.add(name);
    if (message !== null) problem(".sql", message);
    if (message !== null || type === undefined) return [];
    return [{ name: columnName(name), type, notNull, from, to }];
  });
  for (const name of as.keys())
    if (!names.has(name))
      problem(`.${dottedPath(["as", name])}`, `no column ${shown(name)} is returned${meantOrKnown(name, names)}`);
  return columns;
}

function declaredColumn(
  { column }: ResultItem,
  tables: ReadonlyMap<string, Table>,
): { type: ColumnType; notNull: boolean } | null {
  if (column === null) return null;
  const table = [...tables.values()].find(({ name }) => name.toLowerCase() === column.table);
  const wanted = column.name.toLowerCase();
  const found = [...(table?.columns.values() ?? [])].find(({ name }) => name.toLowerCase() === wanted);
  return found === undefined
    ? null
    : { type: found.type, notNull: found.notNull || table!.primaryKey.includes(found.name) };
}

/** The line and column, what is wrong, and below it the line of SQL with a caret under the place. */
function withPlace(sql: string, { at, message }: SqlProblem): string {
  const before = sql.slice(0, at).split("\n");
  const place = { line: before.length, column: before.at(-1)!.length + 1 };
  return `line ${place.line}, column ${place.column} of the SQL: ${message}\n${pointAt(sql, place)}`;
}
