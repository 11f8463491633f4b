import { parseQueryString } from "../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import type { Access } from "../tables/access/access.js";
import {
  compositeKey,
  createValues,
  keyInBody,
  patchValues,
  type RowValues,
  singleKey,
} from "../tables/request/row-request.js";
import type { ExplainRequest } from "./explain-request.js";

/** The key and the values of a call for one row that is explained. */
export interface RowParts {
  /** The key of the row; null for a row that is created. */
  readonly key: RowValues | null;
  /** The values that the call sends; null for an update without values, as if it changed nothing. */
  readonly sent: RowValues | null;
}

/**
 * Reads the key and the values in a question, and refuses what the call itself would refuse as malformed. `whole` is an
 * access that no rule limits, so what the caller may not write is not refused yet.
 */
export function rowParts(question: ExplainRequest, whole: Access): RowParts | Refusal {
  const key = question.key === null ? null : keyIn(question.key, whole);
  if (isRefusal(key)) return key;
  const sent = valuesOf(question, whole);
  return isRefusal(sent) ? sent.of("values") : { key, sent };
}

/**
 * Reads the key of a row. It is given as an object of its columns, or as a text: like a part of a request's path, or,
 * if the key has several columns, like a query string.
 */
export function keyIn(key: NonNullable<ExplainRequest["key"]>, whole: Access): RowValues | Refusal {
  if (typeof key !== "string") return keyInBody(whole, key);
  if (whole.table.primaryKey.length <= 1) return singleKey(whole, key);
  const parameters = parseQueryString(`/?${key}`);
  return isRefusal(parameters)
    ? badRequest(`key: expected ${whole.table.primaryKey.join("=…&")}=…`)
    : compositeKey(whole, parameters);
}

/**
 * Reads the values that a write sends, and refuses those that the access does not let the caller write. Null for an
 * update without values; an empty map for a read or a delete.
 */
export function valuesOf({ action, values }: ExplainRequest, access: Access): RowValues | null | Refusal {
  switch (action) {
    case "create":
      return createValues(access, values ?? {});
    case "update":
      return values === null ? null : patchValues(access, values);
    default:
      return new Map();
  }
}
