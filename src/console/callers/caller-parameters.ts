import { type As, asOf, asText } from "../server/as.js";
import { texts } from "../texts.js";

/** The caller as whom data is viewed, as query parameters for an address of the console; none for null. */
export function callerParameters(as: As | null): Readonly<Record<string, string>> {
  return as === null
    ? {}
    : { as: asText(as), ...(as.label !== as.id && as.kind !== "anonymous" && { name: as.label }) };
}

/**
 * The caller as whom data is viewed, from the query parameters of an address of the console; null where they name none.
 */
export function callerOf(parameters: URLSearchParams): As | null {
  const found = asOf(parameters.get("as") ?? "", texts.callers.anonymous);
  const label = parameters.get("name");
  return found === null || label === null || found.kind === "anonymous" ? found : { ...found, label };
}
