import { columnsOf } from "../../rules/walk.js";
import type { ListPlan } from "./list-plan.js";
import { columnsOfWay, type ListedBy } from "./ways-of-rules.js";

/** Describes in words, for `svc check`, how lists of a table find the rows that users may read. */
export function listedByWords({ by, ways, missing }: Pick<ListedBy, "by" | "ways" | "missing">): string {
  switch (by) {
    case "all":
      return everyRow;
    case "once":
      return once;
    case "ways":
      return byWays(ways);
    case "table":
      return missing.length === 0 ? scan : `${scan}; with an index on ${missing.join(" and on ")}, from the caller`;
  }
}

/** Describes in words how one list finds its rows, from the list's plan. */
export function planWords({ table, path, gates, match }: ListPlan): string {
  if (match !== null) return "by the full-text index";
  if (path.ways !== null) return byWays(path.ways.map((way) => columnsOfWay(table.name, way)));
  const served = new Set(path.served.flatMap((condition) => [...columnsOf(condition, "row")]));
  if (served.size > 0) return `by ${[...served].map((column) => `${table.name}.${column}`).join(" and ")}`;
  if (path.rest.length > 0) return eachRow;
  return gates.length > 0 ? once : everyRow;
}

const everyRow = "every row";
const once = "all or none, which is decided once";
const eachRow = "by asking the rule of each row";
const scan = `${eachRow}, which tells of the rows of others`;

function byWays(ways: readonly (readonly string[])[]): string {
  return ways.map((columns) => `by ${columns.join(", then ")}`).join("; or ");
}
