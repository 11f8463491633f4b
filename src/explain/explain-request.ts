import type { CallerName } from "../auth/callers/caller-as.js";
import { isObject } from "../http/body.js";
import { quoted } from "../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import type { RuleAction } from "../rules/ast.js";

type Body = Readonly<Record<string, unknown>>;

/** What is asked by a `POST /admin/api/explain`, as far as its body can be read without knowing the table. */
export interface ExplainRequest {
  readonly as: CallerName;
  readonly action: RuleAction;
  readonly table: string;
  /** The key of the row: an object of its columns, or a text as in a path; null for none. */
  readonly key: Body | string | null;
  /** The values that a write would send; null for none. */
  readonly values: Body | null;
  /** What the list asks for, as the members of a list's JSON body; null for none. */
  readonly query: Body | null;
}

const actions: readonly string[] = ["read", "create", "update", "delete", "history"] satisfies RuleAction[];
const members: readonly string[] = ["as", "action", "table", "key", "values", "query"];

/** Reads the question from the body of an explain request; a refusal where the body is malformed. */
export function parseExplainRequest(body: Body): ExplainRequest | Refusal {
  const unknown = Object.keys(body).find((name) => !members.includes(name));
  if (unknown !== undefined) return badRequest(`unknown member ${quoted(unknown)}`);
  const as = namedCaller(body.as);
  if (isRefusal(as)) return as;
  const { action, table, key = null, values = null, query = null } = body;
  if (typeof action !== "string" || !actions.includes(action))
    return badRequest(`action: expected one of ${actions.join(", ")}`);
  if (typeof table !== "string") return badRequest("table: expected a string");
  if (key !== null && typeof key !== "string" && !isObject(key))
    return badRequest("key: expected an object of the columns of the primary key, or a string");
  if (values !== null && !isObject(values)) return badRequest("values: expected an object");
  if (query !== null && !isObject(query)) return badRequest("query: expected an object");
  const question = { as, action: action as RuleAction, table, key, values, query };
  return misplaced(question) ?? question;
}

function misplaced({ action, key, values, query }: ExplainRequest): Refusal | null {
  const writesRow = action === "update" || action === "delete";
  if (writesRow && key === null) return badRequest(`key: expected, as ${action} is of one row`);
  if (action === "create" && key !== null) return badRequest("key: a new row has none yet: see values");
  if (values !== null && action !== "create" && action !== "update") return badRequest(`values: ${action} takes none`);
  if (query !== null && (action !== "read" || key !== null))
    return badRequest("query: only a list takes one, which is read without a key");
  return null;
}

function namedCaller(as: unknown): CallerName | Refusal {
  if (!isObject(as)) return badRequest(expectedCaller);
  const [[kind, value] = ["", undefined], ...others] = Object.entries(as);
  if (others.length > 0) return badRequest(expectedCaller);
  if (kind === "anonymous" && value === true) return { kind: "anonymous" };
  if (typeof value !== "string" || value.includes("\0")) return badRequest(expectedCaller);
  switch (kind) {
    case "user":
      return { kind: "user", by: "id", value };
    case "email":
      return { kind: "user", by: "email", value };
    case "key":
      return { kind: "key", id: value };
    default:
      return badRequest(expectedCaller);
  }
}

const expectedCaller = 'as: expected one of {"user": id}, {"email": address}, {"anonymous": true} and {"key": id}';
