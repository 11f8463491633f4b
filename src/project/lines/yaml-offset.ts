import { isAlias, isMap, isNode, isScalar, isSeq, type Node, parseDocument } from "yaml";

/** Where in a YAML text the longest part of a dotted path is that the text has; null for none of it. */
export function yamlOffset(text: string, path: string): number | null {
  const document = parseDocument(text, { prettyErrors: false, logLevel: "silent" });
  const resolved = (value: unknown) => (isAlias(value) ? value.resolve(document) : value);
  let offset: number | null = null;
  let rest: string | null = path;
  let value: unknown = document.contents;
  while (rest !== null && rest !== "") {
    const step = stepInto(resolved(value), rest);
    if (step === null) break;
    offset = step.node.range?.[0] ?? offset;
    ({ value, rest } = step);
  }
  return offset;
}

interface Step {
  /** What to point at: a map's key, a list's item. */
  readonly node: Node;
  readonly value: unknown;
  /** Of the path; empty at its end. */
  readonly rest: string;
}

/** A key may hold dots itself: the longest one that the path begins with is meant. */
function stepInto(value: unknown, path: string): Step | null {
  const steps = childrenOf(value)
    .filter(({ key }) => path === key || path.startsWith(`${key}.`))
    .sort((a, b) => b.key.length - a.key.length);
  const [longest] = steps;
  return longest === undefined ? null : { ...longest, rest: path.slice(longest.key.length + 1) };
}

function childrenOf(value: unknown): { key: string; node: Node; value: unknown }[] {
  if (isSeq(value))
    return value.items.flatMap((item, index) =>
      isNode(item) ? [{ key: String(index), node: item, value: item }] : [],
    );
  if (!isMap(value)) return [];
  return value.items.flatMap((pair) =>
    isScalar(pair.key) ? [{ key: String(pair.key.value), node: pair.key, value: pair.value }] : [],
  );
}
