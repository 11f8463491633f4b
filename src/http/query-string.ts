import { badRequest, type Refusal } from "./refusal.js";

/** One parameter of a query string, percent-decoded. */
export type QueryParameter = readonly [name: string, value: string];

/**
 * The parameters of a URL, in its order. Unlike URLSearchParams this refuses what is malformed (a bad `%`, bytes that
 * are not UTF-8, NUL) and what is ambiguous (a name given twice).
 */
export function parseQueryString(url: string): readonly QueryParameter[] | Refusal {
  const start = url.indexOf("?");
  if (start === -1) return [];
  const text = url.slice(start + 1).replace(/#.*$/s, "");
  const parameters: QueryParameter[] = [];
  const seen = new Set<string>();
  for (const part of text.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decode(equals === -1 ? part : part.slice(0, equals));
    const value = decode(equals === -1 ? "" : part.slice(equals + 1));
    if (name === null || value === null) return badRequest("malformed percent-encoding in the query string");
    if (seen.has(name)) return badRequest(`parameter ${quoted(name)} is given twice`);
    seen.add(name);
    parameters.push([name, value]);
  }
  return parameters;
}

/**
 * Percent-decodes a component of a path or a query string; null if it is malformed or holds a NUL. `plusIsSpace` is for
 * query strings.
 */
export function decode(component: string, plusIsSpace = true): string | null {
  try {
    const encoded = plusIsSpace ? component.replaceAll("+", " ") : component;
    const text = encoded.includes("%") ? decodeURIComponent(encoded) : encoded;
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

/** Quotes text of a caller for a message: as a JSON string, cut to 80 characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
