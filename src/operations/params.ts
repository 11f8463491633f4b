import { unknownMember } from "../http/body.js";
import { type QueryParameter, quoted } from "../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import type { SqlValue } from "../platform/database.js";
import type { NamedOperation, OperationParam } from "../project/model.js";
import type { OperationRules } from "../project/parse-operation-rules.js";
import type { AuthValues, Literal } from "../rules/ast.js";
import { alwaysTrue } from "../rules/fold.js";
import { specialise, withParams } from "../rules/specialise.js";
import { fromJson, fromText, type ParsedValue } from "../tables/access/values.js";

/** The values of an operation's parameters, by name. */
export type ParamValues = ReadonlyMap<string, SqlValue>;

/**
 * Reads parameters from a JSON body. Values have the same form as in requests that write rows; unknown parameters are
 * refused.
 */
export function paramsFromBody(
  operation: NamedOperation,
  body: Readonly<Record<string, unknown>>,
): ParamValues | Refusal {
  const unknown = unknownMember(body, [...operation.params.keys()]);
  if (unknown !== undefined) return badRequest(`unknown parameter ${quoted(unknown)}`);
  const given = new Map(Object.entries(body));
  return paramValues(operation, given, (param, value) => fromJson(param, value));
}

/**
 * Reads parameters from a query string. Values have the same form as in the filters of lists, and no text stands for
 * null. Unknown parameters are refused.
 */
export function paramsFromQuery(
  operation: NamedOperation,
  parameters: readonly QueryParameter[],
): ParamValues | Refusal {
  return paramValues(operation, new Map(parameters), (param, text) => fromText(param, text));
}

function paramValues<V>(
  { params }: NamedOperation,
  given: ReadonlyMap<string, V>,
  read: (param: OperationParam, value: V) => ParsedValue,
): ParamValues | Refusal {
  for (const name of given.keys()) if (!params.has(name)) return badRequest(`unknown parameter ${quoted(name)}`);
  const values = new Map<string, SqlValue>();
  for (const param of params.values()) {
    const value = given.has(param.name) ? givenValue(param, read(param, given.get(param.name)!)) : defaultOf(param);
    if (isRefusal(value)) return value;
    values.set(param.name, value);
  }
  return values;
}

function givenValue({ name, nullable }: OperationParam, parsed: ParsedValue): SqlValue | Refusal {
  if (!parsed.ok) return badRequest(`${name}: expected ${parsed.expected}`);
  return parsed.value === null && !nullable ? badRequest(`${name}: expected a value, not null`) : parsed.value;
}

function defaultOf({ name, type, default: value }: OperationParam): SqlValue | Refusal {
  if (value === undefined) return badRequest(`parameter ${name} is missing`);
  if (typeof value === "boolean") return value ? 1n : 0n;
  return type === "real" && value !== null ? Number(value) : value;
}

/**
 * The parameters' values, so that rules can compare them. A JSON value or a blob becomes `true`, because rules only
 * test these for NULL.
 */
export function asLiterals({ params }: NamedOperation, values: ParamValues): ReadonlyMap<string, Literal["value"]> {
  const literal = ({ name, type }: OperationParam): Literal["value"] => {
    const value = values.get(name)!;
    if (value === null) return null;
    if (type === "boolean") return value !== 0n;
    return type === "json" || value instanceof Uint8Array ? true : value;
  };
  return new Map([...params.values()].map((param) => [param.name, literal(param)]));
}

/** The refusal of the first parameter whose check is not TRUE; null where all are. No null is checked. */
export function checkRefusal(
  { checks }: OperationRules,
  literals: ReadonlyMap<string, Literal["value"]>,
  auth: AuthValues,
  nowSeconds: number,
): Refusal | null {
  for (const [name, check] of checks) {
    if (literals.get(name) === null) continue;
    if (!alwaysTrue(specialise(withParams(check, literals), auth, nowSeconds)))
      return badRequest(`${name}: the value breaks a check of the parameter`);
  }
  return null;
}
