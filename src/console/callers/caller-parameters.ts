import { type As, asOf, asText } from "../server/as.js";
import { texts } from "../texts.js";

/**
 * The caller as whom data is viewed, as query parameters for an address of the console; none for null. The name of the
 * caller is not among them: an address that somebody else has written could give one caller the name of another.
 */
export function callerParameters(as: As | null): Readonly<Record<string, string>> {
  return as === null ? {} : { as: asText(as) };
}

/**
 * The caller as whom data is viewed, from the query parameters of an address of the console; null where they name none.
 */
export function callerOf(parameters: URLSearchParams): As | null {
  return asOf(parameters.get("as") ?? "", texts.callers.anonymous);
}
