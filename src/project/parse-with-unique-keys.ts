import { type Document, isScalar, type ParsedNode, parseDocument } from "yaml";

/**
 * `parseDocument` of the YAML parser, with an error for each key that its map already has. The document and the errors
 * are the same as with the parser's option `uniqueKeys: true`, which compares each key with all keys before it and so
 * takes quadratic time.
 *
 * The option also takes a function. The parser calls it with a new key and one earlier key after the other until it
 * returns true, and then reports the new key as a duplicate. The function here always returns true, so it is called
 * once for each key but the first of a map, and remembers whether the key is a duplicate. Errors about keys that are no
 * duplicates are removed afterwards; the others are at their places and in the parser's order.
 */
export function parseWithUniqueKeys(
  text: string,
  options: Omit<NonNullable<Parameters<typeof parseDocument>[1]>, "uniqueKeys">,
): Document.Parsed {
  /** The keys so far of each map, by the node of the map's first key, which is in no other map. */
  const keysOf = new Map<ParsedNode, Set<unknown>>();
  /** For each error about a key that the parser reports, in order, whether the key really is a duplicate. */
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

/**
 * What a key of a YAML map is compared by: its value, or the node itself if no other key equals it (an alias, a
 * collection or NaN).
 */
function comparedBy(key: ParsedNode): unknown {
  return isScalar(key) && !Number.isNaN(key.value) ? key.value : key;
}
