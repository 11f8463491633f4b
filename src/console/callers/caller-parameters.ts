import { type As, asText, parseAs } from "../server/as.js";
import { texts } from "../texts.js";

/**
 * The caller as query parameters of an address; none for null. The caller's name is not among them: an address that
 * somebody else has written could give one caller the name of another.
 */
export function callerParameters(as: As | null): Readonly<Record<string, string>> {
  return as === null ? {} : { as: asText(as) };
}

/** Reads a caller from the query parameters of an address; null if they name none. */
export function callerFrom(parameters: URLSearchParams): As | null {
  return parseAs(parameters.get("as") ?? "", texts.callers.anonymous);
}
