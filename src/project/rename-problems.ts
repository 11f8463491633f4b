import type { Problem } from "../problems/problem.js";
import { schemaFile } from "./file-names.js";
import type { Schema } from "./model.js";

interface Item {
  readonly name: string;
  readonly renamedFrom: string | null;
}

/**
 * Renames that svc.schema.yaml cannot mean: two names from one old name, and names that change places. They are
 * problems of a proposed schema alone, so that a schema in force with such names can still be served.
 */
export function renameProblems({ tables }: Schema): Problem[] {
  return [
    ...problemsOf([...tables.values()], ""),
    ...[...tables.values()].flatMap(({ name, columns }) => problemsOf([...columns.values()], `${name}.columns.`)),
  ];
}

function problemsOf(items: readonly Item[], path: string): Problem[] {
  const renamed = items.filter(({ renamedFrom }) => renamedFrom !== null);
  const problem = ({ name }: Item, message: string) => ({
    file: schemaFile,
    path: `${path}${name}.renamed_from`,
    message,
  });
  return [
    ...claimedTwice(renamed).map(([item, first]) =>
      problem(item, `${item.renamedFrom} is the old name of ${first.name} already: remove one of the two`),
    ),
    ...renamed
      .filter(({ name, renamedFrom }) => name === renamedFrom)
      .map((item) => problem(item, "is the name itself: remove it")),
    ...ringsOf(renamed).map((ring) => problem(ring[0]!, `${ring.map(({ name }) => name).join(", ")} ${changePlaces}`)),
  ];
}

const changePlaces = "change places: rename one to a name that none of them has, apply that, and rename the rest";

/** Each item whose old name another item has claimed before, with that other item. */
function claimedTwice(renamed: readonly Item[]): [item: Item, first: Item][] {
  const first = new Map(renamed.toReversed().map((item) => [item.renamedFrom!.toLowerCase(), item]));
  return renamed.flatMap((item): [Item, Item][] => {
    const other = first.get(item.renamedFrom!.toLowerCase())!;
    return other === item ? [] : [[item, other]];
  });
}

/**
 * The rings of renames, each once. An item whose name only changes between upper and lower case is none, and nor is one
 * whose old name is its name.
 */
function ringsOf(renamed: readonly Item[]): Item[][] {
  const byName = new Map(renamed.map((item) => [item.name.toLowerCase(), item]));
  const seen = new Set<Item>();
  return renamed.flatMap((item) => {
    const walk = new Set<Item>();
    let next: Item | undefined = item;
    while (next !== undefined && !seen.has(next)) {
      seen.add(next);
      walk.add(next);
      next = byName.get(next.renamedFrom!.toLowerCase());
    }
    const way = [...walk];
    const ring = next !== undefined && walk.has(next) ? way.slice(way.indexOf(next)) : [];
    return ring.length > 1 ? [ring] : [];
  });
}
