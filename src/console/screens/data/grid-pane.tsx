import { useEffect, useState } from "preact/hooks";
import type { SchemaColumn, SchemaTable } from "../../../wire/schema-in-force.js";
import { Grid } from "../../grid/grid.js";
import type { Cell } from "../../grid/grid-keys.js";
import { type GridQuery, sortedBy } from "../../grid/list-query.js";
import { isOfPeople } from "../../grid/row-form.js";
import { rowId } from "../../grid/row-key.js";
import type { LoadedRows } from "../../grid/use-rows.js";
import type { As } from "../../server/as.js";
import type { TableRow } from "../../server/table-row.js";
import { texts } from "../../texts.js";
import { BulkBar } from "./bulk-bar.js";
import { ConflictDialog } from "./conflict-dialog.js";
import { pasteInto } from "./paste.js";
import { RowDrawer } from "./row-drawer.js";
import { useRowChanges } from "./use-row-changes.js";

/** What the panel shows: a row, or a form if `row` is null. `column` is the one to begin editing with. */
export type Opened = { readonly row: TableRow | null; readonly column: string | null };

interface GridPaneProps {
  readonly table: SchemaTable;
  /** The columns that are shown. */
  readonly columns: readonly SchemaColumn[];
  readonly query: GridQuery;
  readonly as: As | null;
  readonly loaded: LoadedRows;
  readonly mayCreate: boolean;
  /** What the panel shows; null if it is closed. */
  readonly opened: Opened | null;
  readonly onQuery: (query: GridQuery) => void;
  readonly onOpened: (change: (opened: Opened | null) => Opened | null) => void;
}

/** The grid, the bar below it for selected rows, and the panel next to it. */
export function GridPane(props: GridPaneProps) {
  const { table, columns, query, as, loaded, opened, onQuery, onOpened } = props;
  const { rows } = loaded;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { conflict, save, showSaved, replace } = useRowChanges(table, as, loaded.setRows);
  const isChangeable = as === null && table.rows_writable && table.primary_key.length > 0;
  useEffect(() => setSelected(new Set()), [JSON.stringify([query, as])]);
  const idOf = (row: TableRow) => rowId(table, row);
  const isWritable = (column: SchemaColumn) =>
    isChangeable && isOfPeople(column) && !table.primary_key.includes(column.name);
  const paste = (at: Cell, cells: readonly (readonly string[])[]) => {
    const target = { table, columns: columns.slice(at.column), rows: rows.slice(at.row), isWritable };
    void pasteInto(target, cells, replace);
  };
  return (
    <>
      {rows.length > 0 && (
        <Grid
          label={table.name}
          columns={columns}
          rows={rows}
          total={loaded.total}
          sort={query.sort}
          idOf={idOf}
          selected={selected}
          isSelectable={isChangeable}
          isEditable={isWritable}
          onSort={(column, isAdded) => onQuery({ ...query, sort: sortedBy(query.sort, column, isAdded) })}
          onSelect={setSelected}
          onOpen={(index, column) => rows[index] && onOpened(() => ({ row: rows[index]!, column }))}
          onSave={save}
          onPaste={paste}
          onEnd={loaded.more}
        />
      )}
      <StatusBar
        table={table}
        loaded={loaded}
        selected={selected.size === 0 ? [] : rows.filter((row) => selected.has(idOf(row) ?? ""))}
        onClear={() => setSelected(new Set())}
      />
      {opened !== null && (
        <RowDrawer
          table={table}
          row={opened.row}
          column={opened.column}
          as={as}
          isChangeable={opened.row === null ? props.mayCreate : isChangeable}
          onClose={() => onOpened((now) => (now === opened ? null : now))}
          onChanged={loaded.reload}
          onSaved={showSaved}
          onKept={replace}
        />
      )}
      {conflict && <ConflictDialog table={table} {...conflict} />}
    </>
  );
}

interface StatusBarProps {
  readonly table: SchemaTable;
  readonly loaded: LoadedRows;
  readonly selected: readonly TableRow[];
  readonly onClear: () => void;
}

function StatusBar({ table, loaded, selected, onClear }: StatusBarProps) {
  const { rows, total, isTruncated, isBusy, reload } = loaded;
  return (
    <footer class="statusbar">
      {selected.length > 0 ? (
        <BulkBar table={table} rows={selected} onClear={onClear} onChanged={reload} />
      ) : (
        <span>
          {texts.data.counts(rows.length, total, isTruncated)}
          {isBusy && rows.length > 0 && ` · ${texts.app.loading}`}
        </span>
      )}
    </footer>
  );
}
