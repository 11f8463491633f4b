import { type As, asOf, asText } from "../server/as.js";
import { texts } from "../texts.js";

/** A caller as parameters of an address. */
export function callerParameters(as: As | null): Readonly<Record<string, string>> {
  return as === null
    ? {}
    : { as: asText(as), ...(as.label !== as.id && as.kind !== "anonymous" && { name: as.label }) };
}

/** The caller that an address holds; null where it holds none. */
export function callerOf(parameters: URLSearchParams): As | null {
  const found = asOf(parameters.get("as") ?? "", texts.callers.anonymous);
  const label = parameters.get("name");
  return found === null || label === null || found.kind === "anonymous" ? found : { ...found, label };
}
