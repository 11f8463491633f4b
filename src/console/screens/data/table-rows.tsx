import { useEffect, useRef, useState } from "preact/hooks";
import { SvcError } from "../../../client/index.js";
import { CallerButton } from "../../callers/caller-button.js";
import { callerParameters } from "../../callers/caller-parameters.js";
import { useCallerLabel } from "../../callers/use-caller-label.js";
import { Grid } from "../../grid/grid.js";
import type { Cell } from "../../grid/grid-keys.js";
import { type GridQuery, sortedBy, sortedColumn } from "../../grid/list-query.js";
import { keyOf, keyText } from "../../grid/row-key.js";
import { listOf, useRows } from "../../grid/use-rows.js";
import { Button } from "../../parts/button.js";
import { Icon } from "../../parts/icon.js";
import { tell } from "../../parts/tell.js";
import { Text } from "../../parts/text.js";
import { Empty, Failure, Loading } from "../../parts/view.js";
import { hrefOf } from "../../route.js";
import type { As } from "../../server/as.js";
import type { Column, Row, TableShape } from "../../server/shapes.js";
import { texts } from "../../texts.js";
import { BulkBar } from "./bulk-bar.js";
import { isOfPeople } from "./column-of-people.js";
import { type Conflict, ConflictDialog } from "./conflict-dialog.js";
import { FilterBar } from "./filter-bar.js";
import { pasteInto } from "./paste.js";
import { RowDrawer } from "./row-drawer.js";
import { saveChange } from "./save-change.js";
import { ColumnsMenu, DownloadMenu } from "./table-menus.js";
import { undoOf } from "./undo.js";

interface TableRowsProps {
  readonly table: TableShape;
  readonly query: GridQuery;
  readonly as: As | null;
  readonly onQuery: (query: GridQuery) => void;
  readonly onAs: (as: As | null) => void;
}

/**
 * What the panel beside the grid shows: a row, or the form for a new one where `row` is null. `column` is the column to
 * begin editing with.
 */
type Opened = { readonly row: Row | null; readonly column: string | null };

/**
 * The grid of a table's rows, with what can be done with them: filter, sort, view them as another caller, download,
 * create, change and delete.
 */
export function TableRows({ table, query, as, onQuery, onAs }: TableRowsProps) {
  const loaded = useRows(table, query, as);
  const callerLabel = useCallerLabel(as);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [opened, setOpened] = useState<Opened | null>(null);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const { rows } = loaded;
  // Rows that are viewed as another caller lack the columns which that caller may not read, so these columns are not
  // shown.
  const columns = table.columns.filter(
    ({ name }) => !hidden.has(name) && (as === null || rows.length === 0 || name in rows[0]!),
  );
  const isChangeable = as === null && table.rows_writable && table.primary_key.length > 0;
  const mayCreate = as === null && table.rows_writable && table.kind === "table";
  const asked = listOf(query, table);
  const shown = JSON.stringify([query, as]);
  useEffect(() => {
    setSelected(new Set());
    setOpened(null);
  }, [shown]);

  const idOf = (row: Row) => {
    const key = keyOf(table, row);
    return key && keyText(key);
  };
  const selectedRows = selected.size === 0 ? [] : rows.filter((row) => selected.has(idOf(row) ?? ""));
  const seenBy = JSON.stringify(as);
  const seenByNow = useRef(seenBy);
  seenByNow.current = seenBy;
  const replace = (changed: Row) => {
    // A write or an undo may end when the rows are viewed as another caller, who may not see all of this row.
    if (seenByNow.current !== seenBy) return;
    const id = idOf(changed);
    loaded.setRows((all) => all.map((row) => (idOf(row) === id ? changed : row)));
  };
  const save = async (before: Row, column: Column, value: unknown) => {
    const done = await saveChange(table, before, { [column.name]: value });
    if (done.outcome === "conflict") {
      const { theirs } = done;
      const keep = () => {
        replace(theirs);
        setConflict(null);
      };
      const overwrite = async () => {
        setConflict(null);
        await save(theirs, column, value);
      };
      setConflict({
        mine: { [column.name]: value },
        theirs,
        onOverwrite: overwrite,
        onKeep: keep,
        onClose: keep,
      });
      return;
    }
    onSaved(done.row);
  };
  const onSaved = (row: Row) => {
    replace(row);
    const undo = undoOf(table, row);
    tell(texts.data.saved, undo && { label: texts.app.undo, act: async () => replace(await undo.act()) });
  };
  const close = () => setOpened((now) => (now === opened ? null : now));
  const isWritable = (column: Column) =>
    isChangeable && isOfPeople(column) && !table.primary_key.includes(column.name);
  const paste = (at: Cell, cells: readonly (readonly string[])[]) => {
    const target = { table, columns: columns.slice(at.column), rows: rows.slice(at.row), isWritable };
    void pasteInto(target, cells, replace);
  };
  const refusal = as !== null && isRefusal(loaded.error) ? loaded.error : null;
  const tooLong = tooLongSort(loaded.error, query);
  const isFiltered = query.conditions.length > 0 || query.search !== "";
  return (
    <section class="rows" aria-label={table.name}>
      <div class="toolbar">
        <FilterBar table={table} query={query} onQuery={onQuery} />
        <div class="toolbar-end">
          <CallerButton as={as} none={texts.data.asAdmin} title={texts.data.seeAs} onChange={onAs} />
          <ColumnsMenu table={table} hidden={hidden} onChange={setHidden} />
          <DownloadMenu table={table} columns={columns} query={query} as={as} />
          <Button icon="refresh" label={texts.app.reload} onPress={loaded.reload} />
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
            {texts.data.seenBy} <Text value={callerLabel ?? ""} />. {texts.data.onlyLooking}
          </span>
          <Button isSmall onPress={() => onAs(null)}>
            {texts.data.backToAdmin}
          </Button>
        </div>
      )}
      {"wrong" in asked && (
        <p class="problem" role="alert">
          {texts.data.wrongValue(asked.wrong.column, asked.wrong.value)}
        </p>
      )}
      {tooLong.length > 0 && (
        <div class="failure-box" role="alert">
          <Icon name="warning" />
          <p>{texts.data.sortTooLong(tooLong)}</p>
          <Button
            isSmall
            onPress={() =>
              onQuery({ ...query, sort: query.sort.filter((term) => !tooLong.includes(sortedColumn(term))) })
            }
          >
            {tooLong.length < query.sort.length ? texts.data.sortByRest : texts.data.sortByKey}
          </Button>
        </div>
      )}
      {loaded.error !== null && refusal === null && tooLong.length === 0 && (
        <Failure error={loaded.error} onRetry={loaded.reload} />
      )}
      {refusal !== null && (
        <Empty icon="why" title={texts.data.refused(callerLabel ?? "")}>
          <p>{refusal.message}</p>
          <a
            class="button"
            href={hrefOf("why", [], { table: table.name, action: "read", ...callerParameters(as) })}
          >
            {texts.data.askWhy}
          </a>
        </Empty>
      )}
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
          onOpen={(index, column) => rows[index] && setOpened({ row: rows[index], column })}
          onSave={save}
          onPaste={paste}
          onEnd={loaded.more}
        />
      )}
      {rows.length === 0 && loaded.isBusy && <Loading />}
      {rows.length === 0 && !loaded.isBusy && loaded.error === null && !("wrong" in asked) && (
        <Empty icon="data" title={isFiltered ? texts.data.nothingMatches : texts.data.noRows}>
          {isFiltered ? (
            <Button onPress={() => onQuery({ ...query, conditions: [], search: "" })}>
              {texts.data.clearFilters}
            </Button>
          ) : (
            <p>{as === null ? texts.data.noRowsHelp : texts.data.noRowsSeen}</p>
          )}
        </Empty>
      )}
      <footer class="statusbar">
        {selectedRows.length > 0 ? (
          <BulkBar
            table={table}
            rows={selectedRows}
            onClear={() => setSelected(new Set())}
            onChanged={loaded.reload}
          />
        ) : (
          <span>
            {texts.data.counts(rows.length, loaded.total, loaded.isTruncated)}
            {loaded.isBusy && rows.length > 0 && ` · ${texts.app.loading}`}
          </span>
        )}
      </footer>
      {opened !== null && (
        <RowDrawer
          table={table}
          row={opened.row}
          column={opened.column}
          as={as}
          isChangeable={opened.row === null ? mayCreate : isChangeable}
          onClose={close}
          onCreated={() => {
            loaded.reload();
            close();
          }}
          onChanged={loaded.reload}
          onSaved={(row) => {
            onSaved(row);
            close();
          }}
          onKept={(row) => {
            replace(row);
            close();
          }}
        />
      )}
      {conflict && <ConflictDialog table={table} {...conflict} />}
    </section>
  );
}

/**
 * The columns of the order whose values are too long for the server to make the cursor of the next page, as its error
 * tells; none for any other error. The user is then offered another order.
 */
function tooLongSort(error: unknown, { sort }: GridQuery): readonly string[] {
  if (!(error instanceof SvcError) || error.status !== 400) return [];
  return error.columns.filter((column) => sort.map(sortedColumn).includes(column));
}

/** Whether the server has refused the request by its rules (403), or because the caller is not signed in (401). */
function isRefusal(error: unknown): error is SvcError {
  return error instanceof SvcError && (error.status === 401 || error.status === 403);
}
