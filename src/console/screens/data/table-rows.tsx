import { useEffect, useState } from "preact/hooks";
import type { SchemaTable } from "../../../wire/schema-in-force.js";
import { CallerButton } from "../../callers/caller-button.js";
import { useCallerLabel } from "../../callers/use-caller-label.js";
import type { GridQuery } from "../../grid/list-query.js";
import { useRows } from "../../grid/use-rows.js";
import { Button } from "../../parts/button.js";
import { Text } from "../../parts/text.js";
import type { As } from "../../server/as.js";
import { texts } from "../../texts.js";
import { FilterBar } from "./filter-bar.js";
import { GridPane, type Opened } from "./grid-pane.js";
import { RowsMessages } from "./rows-messages.js";
import { ColumnsMenu, DownloadMenu } from "./table-menus.js";

interface TableRowsProps {
  readonly table: SchemaTable;
  readonly query: GridQuery;
  readonly as: As | null;
  readonly onQuery: (query: GridQuery) => void;
  readonly onAs: (as: As | null) => void;
}

/** The grid of a table's rows: filter, sort, view as another caller, download, create, change and delete. */
export function TableRows({ table, query, as, onQuery, onAs }: TableRowsProps) {
  const loaded = useRows(table, query, as);
  const callerLabel = useCallerLabel(as) ?? "";
  const [opened, setOpened] = useState<Opened | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const { rows, reload } = loaded;
  // Rows that are viewed as another caller lack the columns that this caller may not read.
  const columns = table.columns.filter(
    ({ name }) => !hidden.has(name) && (as === null || rows.length === 0 || name in rows[0]!),
  );
  const mayCreate = as === null && table.rows_writable && table.kind === "table";
  useEffect(() => setOpened(null), [JSON.stringify([query, as])]);
  return (
    <section class="rows" aria-label={table.name}>
      <div class="toolbar">
        <FilterBar table={table} query={query} onQuery={onQuery} />
        <div class="toolbar-end">
          <CallerButton as={as} none={texts.data.asAdmin} title={texts.data.seeAs} onChange={onAs} />
          <ColumnsMenu table={table} hidden={hidden} onChange={setHidden} />
          <DownloadMenu table={table} columns={columns} query={query} as={as} />
          <Button icon="refresh" label={texts.app.reload} onPress={reload} />
          {mayCreate && (
            <Button kind="main" icon="plus" onPress={() => setOpened({ row: null, column: null })}>
              {texts.data.newRow}
            </Button>
          )}
        </div>
      </div>
      {as !== null && (
        <div class="as-bar" role="status">
          <span>
            {texts.data.seenBy} <Text value={callerLabel} />. {texts.data.onlyLooking}
          </span>
          <Button isSmall onPress={() => onAs(null)}>
            {texts.data.backToAdmin}
          </Button>
        </div>
      )}
      <RowsMessages table={table} query={query} as={as} callerLabel={callerLabel} loaded={loaded} onQuery={onQuery} />
      <GridPane
        table={table}
        columns={columns}
        query={query}
        as={as}
        loaded={loaded}
        mayCreate={mayCreate}
        opened={opened}
        onQuery={onQuery}
        onOpened={setOpened}
      />
    </section>
  );
}
