import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ActiveCell, activeAt, foundAgain } from "./active-cell.js";
import { onClick, onDoubleClick, onKeyDown, onPaste, type RenderedGrid } from "./grid-events.js";
import { GridHead } from "./grid-head.js";
import type { Cell } from "./grid-keys.js";
import type { GridProps } from "./grid-props.js";
import { GridRow } from "./grid-row.js";
import { useEditing } from "./use-editing.js";
import { useViewport } from "./use-viewport.js";
import { indexesWith, isRendered } from "./visible-range.js";

/** How near the end of the loaded rows the next page is loaded. */
const nearEndRows = 60;

/**
 * Renders only the rows and columns in view. For the Tab key it is a single stop: arrow keys move the active cell,
 * Enter or typing edits it, Space selects its row, and Shift+Enter opens the row.
 */
export function Grid(props: GridProps) {
  const { label, columns, rows, total, idOf, isSelectable, onEnd } = props;
  const frame = useRef<HTMLDivElement>(null);
  const id = useId();
  const rowIds = useMemo(() => rows.map(idOf), [rows]);
  const viewport = useViewport(frame, rows.length, columns);
  const [active, activate] = useActiveCell(
    rowIds,
    columns.map(({ name }) => name),
  );
  const editing = useEditing(props, rowIds, frame);
  useEffect(() => {
    if (viewport.rows.end >= rows.length - nearEndRows) onEnd();
  }, [viewport.rows.end, rows.length]);
  const grid: RenderedGrid = { props, frame, rowIds, viewport, active, activate, editing };
  const isActiveRendered = isRendered(viewport.rows, active.row) && isRendered(viewport.columns, active.column);
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
      aria-activedescendant={isActiveRendered ? `${id}-${active.row}-${active.column}` : undefined}
      onKeyDown={(event) => onKeyDown(grid, event)}
      onPaste={(event) => onPaste(grid, event)}
      onClick={(event) => onClick(grid, event)}
      onDblClick={(event) => onDoubleClick(grid, event)}
    >
      <GridHead id={id} grid={grid} />
      <GridBody id={id} grid={grid} />
    </div>
  );
}

/** The rows in view, and the one that is being edited. */
function GridBody({ id, grid }: { readonly id: string; readonly grid: RenderedGrid }) {
  const { rowIds, viewport, active, editing } = grid;
  const { rows, columns, selected, isSelectable } = grid.props;
  const { rowHeight, selectWidth, offsets } = viewport;
  return (
    <div
      role="rowgroup"
      class="grid-body"
      style={{ height: `${rows.length * rowHeight}px`, width: `${selectWidth + offsets.at(-1)!}px` }}
    >
      {indexesWith(viewport.rows, editing.row < 0 ? null : editing.row).map((index) => {
        const rowId = rowIds[index] ?? null;
        return (
          <GridRow
            key={rowId ?? index}
            gridId={id}
            index={index}
            row={rows[index]!}
            top={index * rowHeight}
            height={rowHeight}
            columns={columns}
            offsets={offsets}
            range={viewport.columns}
            isSelected={rowId !== null && selected.has(rowId)}
            isSelectable={isSelectable}
            active={active.row === index ? active.column : null}
            editing={index === editing.row ? editing.current : null}
            onCancel={editing.cancel}
            onSave={editing.save}
          />
        );
      })}
    </div>
  );
}

/** The active cell, at first the one in the first row and column. */
function useActiveCell(
  rowIds: readonly (string | null)[],
  columnNames: readonly string[],
): readonly [ActiveCell, (cell: Cell) => void] {
  const [last, setLast] = useState(() => activeAt({ row: 0, column: 0 }, rowIds, columnNames));
  const active = foundAgain(last, rowIds, columnNames);
  // From here on the active cell is at its new place: if its row is gone, the row that has come to its place counts.
  useLayoutEffect(() => setLast(active), [active]);
  return [active, (cell) => setLast(activeAt(cell, rowIds, columnNames))];
}
