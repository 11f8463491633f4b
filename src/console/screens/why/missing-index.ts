import type { Explanation, TableShape } from "../../server/shapes.js";

/** An index that would spare a scan. */
export interface MissingIndex {
  readonly table: string;
  readonly columns: readonly string[];
}

/**
 * An index that would help an explained statement: on the columns of the scanned table that the rule compares with what is
 * known before the rows are looked at. Null where nothing is scanned, or no such index is in sight.
 */
export function missingIndex(
  { plan, rule, terms }: Pick<Explanation, "plan" | "rule" | "terms">,
  tables: readonly TableShape[],
): MissingIndex | null {
  const text = rule === null ? terms.map((term) => term.text).join(" and ") : rule.text;
  for (const { detail } of plan) {
    const [, scanned] = /^SCAN "?(\w+)"?(?! USING)/.exec(detail) ?? [];
    const table = scanned === undefined ? undefined : aliased(scanned, text, tables);
    if (table === undefined) continue;
    const columns = comparedColumns(text, scanned!, table);
    const isThere = (column: string) =>
      table.primary_key[0] === column || table.indexes.some((index) => index.columns[0] === column);
    const wanted = columns.filter((column) => !isThere(column));
    if (wanted.length > 0) return { table: table.name, columns: [wanted[0]!] };
  }
  return null;
}

/** The table of a name or of an alias in the rule's `exists`. */
function aliased(name: string, text: string, tables: readonly TableShape[]): TableShape | undefined {
  const [, behind] = new RegExp(`exists\\s*\\(\\s*(\\w+)\\s+${name}\\s+where`).exec(text) ?? [];
  return tables.find((table) => table.name === (behind ?? name));
}

/** The columns of a table that a rule compares by `=` with something that is not of the same row. */
function comparedColumns(text: string, alias: string, table: TableShape): readonly string[] {
  const names = `(?:row|old|new|${alias})`;
  const found = text.matchAll(new RegExp(`\\b${names}\\.(\\w+)\\s*=|=\\s*${names}\\.(\\w+)\\b`, "g"));
  const known = new Set(table.columns.map(({ name }) => name));
  return [...found].map(([, left, right]) => (left ?? right)!).filter((name) => known.has(name));
}
