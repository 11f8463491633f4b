import { type Document, isScalar, type ParsedNode, parseDocument } from "yaml";

/**
 * `parseDocument`, with an error for each key that its map already has: the same document and errors as with the
 * parser's `uniqueKeys: true`, which compares each key with all before it and takes quadratic time.
 *
 * The parser asks `uniqueKeys` about the new key and each earlier one, up to the first that is the same. Here it is
 * told so at once, which makes one question and one error of each key but the first, and the errors of keys that are
 * new are removed afterwards. So the errors stay at their places and in the parser's order.
 */
export function parseWithUniqueKeys(
  text: string,
  options: Omit<NonNullable<Parameters<typeof parseDocument>[1]>, "uniqueKeys">,
): Document.Parsed {
  /** The keys of each map so far, by its first key, of which each map has its own node. */
  const keysOf = new Map<ParsedNode, Set<unknown>>();
  /** For each error about a key, in their order, whether the map has the key. */
  const answers: boolean[] = [];
  const uniqueKeys = (first: ParsedNode, key: ParsedNode) => {
    const keys = keysOf.get(first) ?? new Set([comparedBy(first)]);
    keysOf.set(first, keys);
    answers.push(keys.has(comparedBy(key)));
    keys.add(comparedBy(key));
    return true;
  };
  const document = parseDocument(text, { ...options, uniqueKeys });
  let asked = 0;
  document.errors = document.errors.filter(({ code }) => code !== "DUPLICATE_KEY" || answers[asked++]);
  return document;
}

/** What a key is compared by: its value, or itself where it equals no other, as an alias, a collection or NaN. */
function comparedBy(key: ParsedNode): unknown {
  return isScalar(key) && !Number.isNaN(key.value) ? key.value : key;
}
