import type { NamedOperation, OperationParam, ReturnedColumn } from "../project/model.js";
import type { OperationRules } from "../project/parse-operation-rules.js";
import { admitsAnonymous } from "../rules/specialise.js";
import { data, type JsonSchema, list, nullOr, object, ref } from "../wire/schema.js";
import { valueSchema } from "./column-schema.js";
import { jsonContent, operation } from "./operation.js";
import { sharedParameter } from "./parameters.js";

/** The paths of the project's operations (docs/reference/operations.md#calling). */
export function namedOperationPaths(
  operations: Iterable<NamedOperation>,
  rules: ReadonlyMap<string, OperationRules>,
  { metered, cookies }: { readonly metered: boolean; readonly cookies: boolean },
): JsonSchema {
  return Object.fromEntries(
    [...operations].map((named) => {
      const { name, params, steps } = named;
      const { allow } = rules.get(name)!;
      const callers = [
        "accessToken",
        "cookie",
        "apiKey",
        ...(admitsAnonymous(allow) ? ["anybody" as const] : []),
      ] as const;
      // `data` may also be null: the result of RETURNING can be lost before it is kept, and then a repetition of the
      // request is answered with null.
      const rows = nullOr(answerSchema(named));
      const source = {
        tag: "operations",
        summary: `Runs the operation ${name}`,
        callers,
        answers: { 200: metered ? object({ data: rows, meta: ref("svc.metering") }) : data(rows) },
      };
      const optional = [...params.values()].filter((param) => param.default !== undefined);
      const body = object(
        Object.fromEntries([...params.values()].map((param) => [param.name, paramSchema(param)])),
        ...optional.map((param) => param.name),
      );
      const post = {
        ...source,
        id: `run_${name}`,
        body: jsonContent(body),
        parameters: [sharedParameter("idempotencyKey")],
        errors: [400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 503] as const,
      };
      const get = {
        ...source,
        id: `get_${name}`,
        parameters: [...params.values()].map((param) => ({
          name: param.name,
          in: "query",
          required: param.default === undefined,
          schema: valueSchema(param.type),
        })),
        errors: [400, 401, 403, 404, 409, 429, 500, 503] as const,
      };
      const onlyReads = steps.every(({ statement }) => statement.kind === "select");
      const paths = {
        post: operation(post, cookies),
        ...(onlyReads && { get: operation(get, cookies) }),
      };
      return [`/ops/${name}`, paths];
    }),
  );
}

function paramSchema({ type, nullable }: OperationParam): JsonSchema {
  return nullable ? nullOr(valueSchema(type)) : valueSchema(type);
}

/** Null if no step returns rows. */
function answerSchema({ steps }: NamedOperation): JsonSchema {
  const returning = steps.find(({ returns }) => returns !== null);
  if (returning === undefined) return { type: "null" };
  const row = object(Object.fromEntries(returning.columns.map((column) => [column.name, columnSchema(column)])));
  return returning.returns === "one" ? row : list(row);
}

function columnSchema({ type, notNull }: ReturnedColumn): JsonSchema {
  return notNull ? valueSchema(type) : nullOr(valueSchema(type));
}
