import type { SchemaColumn } from "../../wire/schema-in-force.js";
import { Icon } from "../parts/icon.js";
import { Text } from "../parts/text.js";
import { hrefOf } from "../route.js";
import { texts } from "../texts.js";
import { queryParameters } from "./list-query.js";
import { cellText, managedTime } from "./value.js";

interface ValueProps {
  readonly column: SchemaColumn;
  readonly value: unknown;
}

/** Shows a value in a cell. It makes a single element, because a grid has very many cells. */
export function CellValue({ column, value, class: own = "" }: ValueProps & { readonly class?: string }) {
  if (value === undefined) return null;
  if (value === null) return <span class={`null ${own}`}>NULL</span>;
  if (column.type === "boolean")
    return (
      <span class={`truth ${value === true ? "yes" : "no"} ${own}`}>
        {value === true && <Icon name="check" />}
        {String(value)}
      </span>
    );
  const time = managedTime(column, value);
  return <Text value={cellText(column.type, value)} class={own || undefined} title={time?.toISOString()} />;
}

/** A link to the row that a foreign key refers to; nothing if there is none. */
export function ReferenceLink({ column, value, isTabbed = false }: ValueProps & { readonly isTabbed?: boolean }) {
  if (!column.references || value === null || value === undefined) return null;
  return (
    <a
      class="cell-link"
      href={referenceHref(column.references, String(value))}
      tabIndex={isTabbed ? 0 : -1}
      aria-label={texts.data.openReference(column.references.table)}
      title={texts.data.openReference(column.references.table)}
    >
      <Icon name="open" />
    </a>
  );
}

/** The user's page, or the table's rows with a filter for the row. */
function referenceHref({ table, column }: NonNullable<SchemaColumn["references"]>, value: string): string {
  if (table === "$users") return hrefOf("users", [value]);
  const condition = { column, operator: "eq", value } as const;
  return hrefOf("data", [table], queryParameters({ conditions: [condition], sort: [], search: "" }));
}
