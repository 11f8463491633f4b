import { quoted } from "./query-string.js";
import { badRequest, type Refusal } from "./refusal.js";

/**
 * Parses JSON (RFC 8259) and refuses what JSON.parse would silently change or drop, as I-JSON does (RFC 7493):
 * duplicate keys, lone surrogates and integers that a double cannot hold; also NUL, numbers that overflow and nesting
 * deeper than 64. An integer beyond 2^53 passes if JSON.stringify would write it with the same digits, because clients
 * send reals such as 1e20 that way.
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
 * A fast check, which accepts what most clients send: a flat object that JSON.stringify wrote. If JSON.stringify writes
 * the parsed value with the same text, no key was doubled and no number rounded. Text with a backslash is left to
 * `inspect`, because an escape can stand for a NUL or a lone surrogate.
 */
function isPlain(text: string, value: unknown): boolean {
  if (typeof value !== "object" || value === null || text.includes("\\")) return false;
  const isFlat = Object.values(value).every((each) => typeof each !== "object" || each === null);
  return isFlat && JSON.stringify(value) === text;
}

/**
 * Yields the strings, numbers and punctuation of a JSON text that JSON.parse has accepted, without `true`, `false` and
 * `null`.
 */
function* tokens(text: string): Generator<string> {
  const start = /"|-?\d[\d.eE+-]*|[{}[\],:]/g;
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    if (match[0] === '"') start.lastIndex = stringEnd(text, match.index);
    yield text.slice(match.index, start.lastIndex);
  }
}

/**
 * The index just after the JSON string whose opening quote is at `opening`. A regular expression that matches a string
 * of several megabytes overflows the stack, so this is a loop.
 */
function stringEnd(text: string, opening: number): number {
  let at = opening + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

type Container = { readonly keys: Set<string> | null; expectsKey: boolean };

/**
 * Looks in a text that JSON.parse has accepted for what `parseStrictJson` refuses. Returns the message of the refusal.
 */
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
