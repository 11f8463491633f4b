import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import type { Column, Row } from "../server/shapes.js";
import { texts } from "../texts.js";
import { type ActiveCell, activeAt, foundAgain } from "./active-cell.js";
import { copiedCell, pastedCells } from "./clipboard-cells.js";
import { columnOffsets, columnWidth } from "./column-widths.js";
import { type Cell, movedBy } from "./grid-keys.js";
import { type Editing, GridRow } from "./grid-row.js";
import { isPreview } from "./value.js";
import { indexesWith, scrolledTo, visibleColumns, visibleRows } from "./visible-range.js";

export interface GridProps {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** How many rows the list has, with those that are not loaded yet; null where that is not known. */
  readonly total: number | null;
  readonly sort: readonly string[];
  /** The id by which a row is found again when the rows were loaded anew; null for a row that has none. */
  readonly idOf: (row: Row) => string | null;
  /** The ids of the selected rows. */
  readonly selected: ReadonlySet<string>;
  readonly isSelectable: boolean;
  readonly isEditable: (column: Column) => boolean;
  readonly onSort: (column: string, isAdded: boolean) => void;
  readonly onSelect: (ids: ReadonlySet<string>) => void;
  /**
   * Called to show a row beside the grid with all its columns. `column` is the column that the user wants to edit
   * there; null for none.
   */
  readonly onOpen: (row: number, column: string | null) => void;
  /** Called to change a value. `row` is the row as it was when the user began to edit. */
  readonly onSave: (row: Row, column: Column, value: unknown) => Promise<void>;
  /** Called when several cells are pasted, with the cell on which the first of them comes. */
  readonly onPaste: (at: Cell, cells: readonly (readonly string[])[]) => void;
  /** Called when the user has scrolled near the end of the rows that are loaded, so that more are loaded. */
  readonly onEnd: () => void;
}

/**
 * Measures of the grid. The height of a row and the width of the column of checkboxes are in rem. The others count
 * rows: how many are rendered beyond those in view, and how near to the end more rows are loaded.
 */
const rowHeight = 2;
const selectWidth = 3.5;
const overscan = 4;
const nearEndRows = 60;

/**
 * A grid of a table's rows, which renders only the rows and columns in view. For the Tab key it is a single stop: arrow
 * keys move the active cell, Enter or typing edits it, Space selects its row, and Shift+Enter opens the row.
 */
export function Grid(props: GridProps) {
  const { label, columns, rows, total, sort, idOf, selected, isSelectable } = props;
  const { onSort, onSelect, onOpen, onSave, onPaste } = props;
  const frame = useRef<HTMLDivElement>(null);
  const id = useId();
  const rem = useRem();
  const [view, setView] = useState({ top: 0, left: 0, height: 0, width: 0 });
  const rowIds = useMemo(() => rows.map(idOf), [rows]);
  const columnNames = columns.map(({ name }) => name);
  const [lastActive, setLastActive] = useState<ActiveCell>(() =>
    activeAt({ row: 0, column: 0 }, rowIds, columnNames),
  );
  const active = foundAgain(lastActive, rowIds, columnNames);
  const activate = (cell: Cell) => setLastActive(activeAt(cell, rowIds, columnNames));
  const [editing, setEditing] = useState<Editing | null>(null);
  const editedRow = editing === null ? -1 : rowIds.indexOf(idOf(editing.row));
  const height = rowHeight * rem;
  const left = selectWidth * rem;
  const offsets = useMemo(
    () => columnOffsets(columns.map((column) => columnWidth(column) * rem)),
    [columns, rem],
  );
  const range = visibleRows(rows.length, height, view.top, view.height, overscan);
  const columnRange = useStable(visibleColumns(offsets, view.left, Math.max(0, view.width - left)));

  useLayoutEffect(() => {
    const element = frame.current!;
    const look = () =>
      setView({
        top: element.scrollTop,
        left: element.scrollLeft,
        height: element.clientHeight - height,
        width: element.clientWidth,
      });
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [height]);
  // From here on the active cell is at its new place: where its row is gone, the row that has come to its place counts.
  useLayoutEffect(() => setLastActive(active), [active]);
  // The editing ends where its row or its column is gone.
  const isEditedGone = editing !== null && (editedRow < 0 || !columnNames.includes(editing.column));
  useLayoutEffect(() => {
    if (isEditedGone) setEditing(null);
  }, [isEditedGone]);
  // When the editing ends, the keyboard goes on in the grid, unless something else than the field had the focus.
  useLayoutEffect(() => {
    if (editing === null) return;
    return () => {
      if (document.activeElement === document.body) frame.current?.focus();
    };
  }, [editing]);
  useEffect(() => {
    if (range.end >= rows.length - nearEndRows) props.onEnd();
  }, [range.end, rows.length]);

  const moveTo = (cell: Cell) => {
    activate(cell);
    const element = frame.current!;
    const seen = { top: element.scrollTop, left: element.scrollLeft };
    const top =
      cell.row < 0 ? seen.top : scrolledTo(cell.row * height, (cell.row + 1) * height, seen.top, view.height);
    const begin = cell.column < 0 ? 0 : offsets[cell.column]!;
    const end = offsets[Math.max(0, cell.column) + (cell.column < 0 ? 0 : 1)]!;
    element.scrollTo({ top, left: scrolledTo(begin, end, seen.left, view.width - left) });
  };
  const toggle = (row: number, isRange: boolean) => {
    if (!isSelectable) return;
    const next = new Set(selected);
    const others = isRange ? between(active.row, row) : [row];
    const chosen = others.map((each) => rowIds[each] ?? null).filter((each) => each !== null);
    for (const each of chosen) if (isRange || !next.delete(each)) next.add(each);
    onSelect(next);
  };
  const edit = (cell: Cell, typed: string | null) => {
    const column = columns[cell.column];
    const row = rows[cell.row];
    if (column === undefined || row === undefined) return;
    const isEditable = props.isEditable(column) && rowIds[cell.row] !== null;
    if (!isEditable || isLarge(column, row[column.name])) return onOpen(cell.row, column.name);
    if (column.type === "boolean" && typed !== null) return;
    setEditing({ row, column: column.name, typed });
  };
  const saveEdited = async (saved: Editing, value: unknown) => {
    await onSave(saved.row, columns.find(({ name }) => name === saved.column)!, value);
    // Meanwhile the user may have left this cell by Escape, and be editing another one.
    setEditing((current) => (current === saved ? null : current));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== frame.current) return;
    const isControl = event.ctrlKey || event.metaKey;
    if (editing !== null) {
      // The user has clicked elsewhere in the grid. Other keys than Tab go on in the field that is still open.
      if (event.key !== "Tab" && !isControl)
        frame.current?.querySelector<HTMLElement>(".cell-input")?.focus();
      return;
    }
    const page = Math.max(1, Math.floor(view.height / height) - 1);
    const next = movedBy(event.key, isControl, active, { rows: rows.length, columns: columns.length, page });
    const column = columns[active.column];
    if (next !== null) moveTo(next);
    else if (active.row < 0 && event.key === "Enter" && column) onSort(column.name, event.shiftKey);
    else if (event.key === "Enter" && event.shiftKey) onOpen(active.row, null);
    else if (event.key === "Enter" || event.key === "F2") {
      if (active.column < 0) onOpen(active.row, null);
      else edit(active, null);
    } else if (event.key === " ") toggle(active.row, event.shiftKey);
    else if (isControl && event.key === "c" && column) void copyCell(column, rows[active.row]);
    else if (event.key.length === 1 && !isControl && !event.altKey && active.row >= 0)
      edit(active, event.key);
    else return;
    event.preventDefault();
  };
  const paste = (event: ClipboardEvent) => {
    const isOwn = editing === null && document.activeElement === frame.current;
    if (!isOwn || active.row < 0 || active.column < 0) return;
    const cells = pastedCells(event.clipboardData?.getData("text/plain") ?? "");
    if (cells.length === 1 && cells[0]!.length === 1) return;
    event.preventDefault();
    onPaste(active, cells);
  };
  const onClick = (event: MouseEvent) => {
    const target = event.target as HTMLElement;
    if (target.closest("a, .cell-editor")) return;
    const head = target.closest<HTMLElement>("[data-head]");
    if (head) {
      const column = Number(head.dataset.head);
      moveTo({ row: -1, column });
      return columns[column] && onSort(columns[column].name, event.shiftKey);
    }
    const cell = cellOf(target);
    if (cell === null) return;
    if (target.closest(".grid-open")) return onOpen(cell.row, null);
    if (target instanceof HTMLInputElement) toggle(cell.row, event.shiftKey);
    activate(cell);
  };
  const onDoubleClick = (event: MouseEvent) => {
    const cell = cellOf(event.target as HTMLElement);
    if (cell !== null && cell.column >= 0 && editing === null) edit(cell, null);
  };
  const ids = useMemo(() => rowIds.filter((each) => each !== null), [rowIds]);
  const areAllSelected = ids.length > 0 && ids.every((each) => selected.has(each));
  const isDrawn =
    (active.row < 0 || (active.row >= range.first && active.row < range.end)) &&
    (active.column < 0 || (active.column >= columnRange.first && active.column < columnRange.end));
  return (
    <div
      ref={frame}
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={total === null ? -1 : total + 1}
      aria-colcount={columns.length + 1}
      aria-multiselectable={isSelectable}
      aria-activedescendant={isDrawn ? `${id}-${active.row}-${active.column}` : undefined}
      onKeyDown={onKeyDown}
      onPaste={paste}
      onClick={onClick}
      onDblClick={onDoubleClick}
    >
      <div
        role="row"
        class="grid-head"
        aria-rowindex={1}
        style={{ width: `${left + offsets.at(-1)!}px`, height: `${height}px` }}
      >
        <div role="columnheader" id={`${id}--1--1`} class="grid-cell grid-select" aria-colindex={1}>
          {isSelectable && (
            <input
              type="checkbox"
              tabIndex={-1}
              aria-label={texts.data.selectAll}
              checked={areAllSelected}
              onChange={() => onSelect(new Set(areAllSelected ? [] : ids))}
            />
          )}
          {!isSelectable && <span class="visually-hidden">{texts.data.openColumn}</span>}
        </div>
        {columns.slice(columnRange.first, columnRange.end).map((column, i) => {
          const at = columnRange.first + i;
          const direction = sort.includes(column.name)
            ? "up"
            : sort.includes(`-${column.name}`)
              ? "down"
              : null;
          const isActive = active.row < 0 && active.column === at;
          return (
            <div
              key={column.name}
              role="columnheader"
              id={`${id}--1-${at}`}
              class={isActive ? "grid-cell active" : "grid-cell"}
              aria-colindex={at + 2}
              aria-sort={direction === null ? "none" : direction === "up" ? "ascending" : "descending"}
              data-head={at}
              title={`${column.name}: ${column.type}${column.not_null ? "" : ` ${texts.data.orNull}`}`}
              style={{ left: `${left + offsets[at]!}px`, width: `${offsets[at + 1]! - offsets[at]!}px` }}
            >
              <span class="head-name">{column.name}</span>
              <span class="head-type">{column.type}</span>
              {direction && <Icon name={direction} />}
            </div>
          );
        })}
      </div>
      <div
        role="rowgroup"
        class="grid-body"
        style={{ height: `${rows.length * height}px`, width: `${left + offsets.at(-1)!}px` }}
      >
        {indexesWith(range, editedRow < 0 ? null : editedRow).map((index) => {
          const row = rows[index]!;
          const rowId = rowIds[index] ?? null;
          return (
            <GridRow
              key={rowId ?? index}
              gridId={id}
              index={index}
              row={row}
              top={index * height}
              height={height}
              columns={columns}
              offsets={offsets}
              range={columnRange}
              isSelected={rowId !== null && selected.has(rowId)}
              isSelectable={isSelectable}
              active={active.row === index ? active.column : null}
              editing={index === editedRow ? editing : null}
              onCancel={() => setEditing(null)}
              onSave={(value) => saveEdited(editing!, value)}
            />
          );
        })}
      </div>
    </div>
  );
}

const lineLengthMax = 400;

/**
 * Whether a value is too large, or of the wrong type, to be edited in a cell's single line. Such a value is edited
 * beside the grid.
 */
function isLarge({ type }: Column, value: unknown): boolean {
  if (isPreview(value) || type === "json" || type === "blob") return true;
  return typeof value === "string" && (value.length > lineLengthMax || value.includes("\n"));
}

function between(a: number, b: number): readonly number[] {
  const [from, to] = [Math.max(0, Math.min(a, b)), Math.max(a, b)];
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

function cellOf(target: HTMLElement): Cell | null {
  const row = target.closest<HTMLElement>("[data-row]")?.dataset.row;
  const column = target.closest<HTMLElement>("[data-column]")?.dataset.column;
  return row === undefined || column === undefined ? null : { row: Number(row), column: Number(column) };
}

async function copyCell({ name }: Column, row: Row | undefined): Promise<void> {
  await navigator.clipboard.writeText(copiedCell(row?.[name])).catch(() => {});
}

/** The size of 1 rem in pixels. Users can set another font size in their browser, so it is not always 16. */
function useRem(): number {
  return useMemo(() => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16, []);
}

/**
 * Returns the same object as in earlier renderings as long as its content is equal, so that rows which get it as a
 * property are not rendered again.
 */
function useStable<T extends object>(value: T): T {
  const kept = useRef(value);
  if (JSON.stringify(kept.current) !== JSON.stringify(value)) kept.current = value;
  return kept.current;
}
