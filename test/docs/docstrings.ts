import { readFileSync } from "node:fs";
import { parseSync } from "rolldown/experimental";

interface Node {
  readonly type: string;
  readonly start: number;
  readonly key?: { readonly name?: string };
  readonly id?: { readonly name?: string };
}

/**
 * What the docstrings of a file say, each in one line: of the keys of its objects and interfaces, by the names that lead to them, such
 * as `Environment.HOST` and `configSchema.auth.throttle.enabled`.
 */
export function docstrings(file: string): ReadonlyMap<string, string> {
  const text = readFileSync(file, "utf8");
  const { program, comments } = parseSync(file, text);
  const docs = new Map<string, string>();
  const visit = (value: unknown, names: readonly string[]): void => {
    if (typeof value !== "object" || value === null) return;
    const node = value as Node;
    const name = nameOf(node);
    const path = name === undefined ? names : [...names, name];
    const doc = comments.find(({ end }) => end < node.start && text.slice(end, node.start).trim() === "");
    if (name !== undefined && doc?.value.startsWith("*")) docs.set(path.join("."), inOneLine(doc.value));
    for (const child of Object.values(value)) visit(child, path);
  };
  visit(program, []);
  return docs;
}

function nameOf({ type, key, id }: Node): string | undefined {
  return /^(Property|TSPropertySignature)$/.test(type)
    ? key?.name
    : /^(Variable|TSInterface)/.test(type)
      ? id?.name
      : undefined;
}

/** The text of a comment without the stars in front of its lines. */
function inOneLine(comment: string): string {
  return comment
    .split("\n")
    .map((line) => line.replace(/^\s*\*+/, "").trim())
    .join(" ")
    .trim();
}
