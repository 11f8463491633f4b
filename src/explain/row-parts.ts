import { parseQueryString } from "../http/query-string.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import type { Access } from "../tables/access.js";
import {
  compositeKey,
  createValues,
  keyInBody,
  patchValues,
  type RowValues,
  singleKey,
} from "../tables/row/row-request.js";
import type { Question } from "./question.js";

/** The key and the values of a call for one row that is explained. */
export interface RowParts {
  /** The key of the row; null for a row that is created. */
  readonly key: RowValues | null;
  /**
   * The values that the call sends; null for an update that is asked about without values, as if it changed nothing.
   */
  readonly sent: RowValues | null;
}

/**
 * Reads the key and the values of a call as the call itself would, but past all rules. `whole` is an access past all
 * rules.
 */
export function rowParts(question: Question, whole: Access): RowParts | Refusal {
  const key = question.key === null ? null : keyIn(question.key, whole);
  if (isRefusal(key)) return key;
  const sent = valuesOf(question, whole);
  return isRefusal(sent) ? sent.of("values") : { key, sent };
}

/**
 * Reads a key: an object of its columns, or a text as in the path of a request, or for a composite key as in its query.
 */
export function keyIn(key: NonNullable<Question["key"]>, whole: Access): RowValues | Refusal {
  if (typeof key !== "string") return keyInBody(whole, key);
  if (whole.table.primaryKey.length <= 1) return singleKey(whole, key);
  const parameters = parseQueryString(`/?${key}`);
  return isRefusal(parameters)
    ? badRequest(`key: expected ${whole.table.primaryKey.join("=…&")}=…`)
    : compositeKey(whole, parameters);
}

/** The values that a write sends, checked by the column rules of an access. */
export function valuesOf({ action, values }: Question, access: Access): RowValues | null | Refusal {
  switch (action) {
    case "create":
      return createValues(access, values ?? {});
    case "update":
      return values === null ? null : patchValues(access, values);
    default:
      return new Map();
  }
}
