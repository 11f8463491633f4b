import { type Alias, isAlias, isMap, isNode, isScalar, isSeq, type Node, parseDocument, visit } from "yaml";
import type { SourcePlace } from "./place.js";

/**
 * Finds where the parts of a YAML text without mistakes of syntax begin. A map has a part for each key, a list for each
 * index.
 */
export function yamlPlaces(text: string): SourcePlace {
  // As `readSchemaYaml` reads integers, so that keys that are numbers get the same names.
  const document = parseDocument(text, {
    intAsBigInt: true,
    prettyErrors: false,
    logLevel: "silent",
    // `readSchemaYaml` has checked that keys are unique, and the parser would take quadratic time for it.
    uniqueKeys: false,
  });
  return new YamlPlace(0, document.contents, targetsOf(document));
}

class YamlPlace implements SourcePlace {
  #parts: ReadonlyMap<string, SourcePlace> | undefined;

  constructor(
    readonly offset: number,
    private readonly value: unknown,
    private readonly targets: ReadonlyMap<Alias, Node>,
  ) {}

  part(step: string): SourcePlace | undefined {
    this.#parts ??= new Map(this.#entries().map(([key, node, value]) => [key, this.#at(node, value)]));
    return this.#parts.get(step);
  }

  #at(node: Node, value: unknown): SourcePlace {
    return new YamlPlace(node.range?.[0] ?? this.offset, value, this.targets);
  }

  /** For each part of a map or a list, its key or index, the node at which it begins, and its value. */
  #entries(): (readonly [string, Node, unknown])[] {
    const value = isAlias(this.value) ? this.targets.get(this.value) : this.value;
    if (isSeq(value))
      return value.items.flatMap((item, index) => (isNode(item) ? [[String(index), item, item] as const] : []));
    if (!isMap(value)) return [];
    return value.items.flatMap(({ key, value }) =>
      // A key that is empty, as in `: value`, has the name "".
      isScalar(key) ? [[String(key.value ?? ""), key, value] as const] : [],
    );
  }
}

/**
 * Maps each alias (`*name`) to its node in one walk, because `Alias.resolve` would walk the whole document for every
 * alias.
 */
function targetsOf(document: ReturnType<typeof parseDocument>): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Alias: (_, alias) => {
      const target = anchors.get(alias.source);
      if (target !== undefined) targets.set(alias, target);
    },
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}
