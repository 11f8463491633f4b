import type { RefObject } from "preact";
import type { ActiveCell } from "./active-cell.js";
import { copiedCell, pastedCells } from "./clipboard-cells.js";
import { type Cell, keyAction } from "./grid-keys.js";
import type { GridProps } from "./grid-props.js";
import type { CellEditing } from "./use-editing.js";
import type { Viewport } from "./use-viewport.js";

/** A grid as it was rendered last, on which the user acts. */
export interface RenderedGrid {
  readonly props: GridProps;
  /** The element that has the focus as long as no cell is being edited. */
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly rowIds: readonly (string | null)[];
  readonly viewport: Viewport;
  readonly active: ActiveCell;
  readonly activate: (cell: Cell) => void;
  readonly editing: CellEditing;
}

/** Does what a key does in the grid, as `keyAction` says. */
export function onKeyDown(grid: RenderedGrid, event: KeyboardEvent): void {
  const { props, frame, active, editing, viewport } = grid;
  const { columns, rows, onSort, onOpen } = props;
  if (event.target !== frame.current) return;
  if (editing.current !== null) {
    // The user has clicked elsewhere in the grid. Keys other than Tab go on in the field that is still open.
    if (event.key !== "Tab" && !event.ctrlKey && !event.metaKey)
      frame.current?.querySelector<HTMLElement>(".cell-input")?.focus();
    return;
  }
  const size = { rows: rows.length, columns: columns.length, page: viewport.page };
  const action = keyAction(event, active, size);
  if (action === null) return;
  if (action.kind === "move") moveTo(grid, action.to);
  else if (action.kind === "edit") editing.begin(active, action.typed);
  else if (action.kind === "sort") onSort(columns[active.column]!.name, event.shiftKey);
  else if (action.kind === "open") onOpen(active.row, null);
  else if (action.kind === "select") select(grid, active.row, event.shiftKey);
  else void copy(rows[active.row]?.[columns[active.column]!.name]);
  event.preventDefault();
}

/** Activates the clicked cell. A heading also sorts, a checkbox selects its row, and the button next to it opens it. */
export function onClick(grid: RenderedGrid, event: MouseEvent): void {
  const { columns, onSort, onOpen } = grid.props;
  const target = event.target as HTMLElement;
  if (target.closest("a, .cell-editor")) return;
  const head = target.closest<HTMLElement>("[data-head]");
  if (head) {
    const column = Number(head.dataset.head);
    moveTo(grid, { row: -1, column });
    if (columns[column]) onSort(columns[column].name, event.shiftKey);
    return;
  }
  const cell = cellOf(target);
  if (cell === null) return;
  if (target.closest(".grid-open")) {
    onOpen(cell.row, null);
    return;
  }
  if (target instanceof HTMLInputElement) select(grid, cell.row, event.shiftKey);
  grid.activate(cell);
}

/** Begins to edit the cell that was double-clicked. */
export function onDoubleClick({ editing }: RenderedGrid, event: MouseEvent): void {
  const cell = cellOf(event.target as HTMLElement);
  if (cell !== null && cell.column >= 0 && editing.current === null) editing.begin(cell, null);
}

/** Pastes several cells from the active cell on. A single one is left to the field into which it is pasted. */
export function onPaste({ props, frame, active, editing }: RenderedGrid, event: ClipboardEvent): void {
  const isOwn = editing.current === null && document.activeElement === frame.current;
  if (!isOwn || active.row < 0 || active.column < 0) return;
  const cells = pastedCells(event.clipboardData?.getData("text/plain") ?? "");
  if (cells.length === 1 && cells[0]!.length === 1) return;
  event.preventDefault();
  props.onPaste(active, cells);
}

function moveTo({ activate, viewport }: RenderedGrid, cell: Cell): void {
  activate(cell);
  viewport.reveal(cell);
}

/** Selects a row, or no longer; with `isRange` all rows from the active cell's to it. */
function select({ props, active, rowIds }: RenderedGrid, row: number, isRange: boolean): void {
  if (!props.isSelectable) return;
  const selected = new Set(props.selected);
  const [from, to] = isRange ? [Math.max(0, Math.min(active.row, row)), Math.max(active.row, row)] : [row, row];
  for (const id of rowIds.slice(from, to + 1)) if (id !== null && (isRange || !selected.delete(id))) selected.add(id);
  props.onSelect(selected);
}

async function copy(value: unknown): Promise<void> {
  await navigator.clipboard.writeText(copiedCell(value)).catch(() => {});
}

function cellOf(target: HTMLElement): Cell | null {
  const row = target.closest<HTMLElement>("[data-row]")?.dataset.row;
  const column = target.closest<HTMLElement>("[data-column]")?.dataset.column;
  return row === undefined || column === undefined ? null : { row: Number(row), column: Number(column) };
}
