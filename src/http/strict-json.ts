import { quoted } from "./query-string.js";
import { badRequest, type Refusal } from "./refusal.js";

/**
 * RFC 8259 as I-JSON (RFC 7493) wants it: no duplicate keys, no lone surrogates, no integer that a double cannot
 * hold; and no NUL, no number that overflows, no nesting over 64. What JSON.parse would let pass is refused. A real
 * such as 1e20, which JSON.stringify writes as an integer, comes back as it was written and passes.
 */
export function parseStrictJson(text: string): { readonly value: unknown } | Refusal {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return badRequest("the body is not valid JSON");
  }
  const problem = isPlain(text, value) ? null : inspect(text);
  return problem === null ? { value } : badRequest(problem);
}

const depthMax = 64;

/**
 * What most clients send, an object of JSON.stringify without further ones in it: a second key or a number that was rounded
 * would not be written again. Escapes may hide what a string must not hold.
 */
function isPlain(text: string, value: unknown): boolean {
  if (typeof value !== "object" || value === null || text.includes("\\")) return false;
  const isFlat = Object.values(value).every((each) => typeof each !== "object" || each === null);
  return isFlat && JSON.stringify(value) === text;
}

/** The tokens of text that JSON.parse has accepted. */
function* tokens(text: string): Generator<string> {
  const start = /"|-?\d[\d.eE+-]*|[{}[\],:]/g;
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    if (match[0] === '"') start.lastIndex = stringEnd(text, match.index);
    yield text.slice(match.index, start.lastIndex);
  }
}

/** Behind the string that opens there. A regular expression over a string of megabytes runs out of stack. */
function stringEnd(text: string, opening: number): number {
  let at = opening + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

type Container = { readonly keys: Set<string> | null; expectsKey: boolean };

function inspect(text: string): string | null {
  if (!text.isWellFormed()) return "the body is not well-formed Unicode";
  const containers: Container[] = [];
  for (const part of tokens(text)) {
    const inside = containers.at(-1);
    switch (part[0]) {
      case "{":
      case "[":
        containers.push({ keys: part === "{" ? new Set() : null, expectsKey: part === "{" });
        if (containers.length > depthMax) return `the body nests deeper than ${depthMax}`;
        break;
      case "}":
      case "]":
        containers.pop();
        break;
      case ",":
        if (inside?.keys) inside.expectsKey = true;
        break;
      case ":":
        break;
      case '"': {
        const string: string = JSON.parse(part);
        if (string.includes("\0")) return "the body holds a NUL character";
        if (!string.isWellFormed()) return "the body holds a lone surrogate";
        if (!inside?.expectsKey || inside.keys === null) break;
        if (inside.keys.has(string)) return `the body gives the key ${quoted(string)} twice`;
        inside.keys.add(string);
        inside.expectsKey = false;
        break;
      }
      default: {
        const number = Number(part);
        if (!Number.isFinite(number)) return "the body holds a number that is too large";
        if (/^-?\d+$/.test(part) && !Number.isSafeInteger(number) && String(number) !== part)
          return "the body holds an integer beyond ±(2^53−1): send it as a decimal string";
      }
    }
  }
  return null;
}
