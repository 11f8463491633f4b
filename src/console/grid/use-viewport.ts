import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { SchemaColumn } from "../../wire/schema-in-force.js";
import { columnOffsets, columnWidth } from "./column-widths.js";
import type { Cell } from "./grid-keys.js";
import { scrolledTo, type VisibleRange, visibleColumns, visibleRows } from "./visible-range.js";

/** In rem. */
const rowHeight = 2;
const selectWidth = 3.5;
/** How many rows are rendered beyond those in view, at either end. */
const overscan = 4;

/** In pixels. */
export interface Viewport {
  readonly rowHeight: number;
  /** The width of the column of checkboxes. */
  readonly selectWidth: number;
  /** Where the columns begin, after the checkboxes; the last element is where the last one ends. */
  readonly offsets: readonly number[];
  readonly rows: VisibleRange;
  readonly columns: VisibleRange;
  /** How many rows PageUp and PageDown move. */
  readonly page: number;
  /** Scrolls as far as needed to bring a cell into view. */
  readonly reveal: (cell: Cell) => void;
}

/** `frame` is the element that is scrolled. */
export function useViewport(
  frame: RefObject<HTMLDivElement | null>,
  rowCount: number,
  columns: readonly SchemaColumn[],
): Viewport {
  const rem = useRem();
  const [view, setView] = useState({ top: 0, left: 0, height: 0, width: 0 });
  const height = rowHeight * rem;
  const left = selectWidth * rem;
  const offsets = useMemo(() => columnOffsets(columns.map((column) => columnWidth(column) * rem)), [columns, rem]);
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
  const reveal = ({ row, column }: Cell) => {
    const element = frame.current!;
    const seen = { top: element.scrollTop, left: element.scrollLeft };
    const top = row < 0 ? seen.top : scrolledTo(row * height, (row + 1) * height, seen.top, view.height);
    const begin = column < 0 ? 0 : offsets[column]!;
    const end = offsets[column < 0 ? 0 : column + 1]!;
    element.scrollTo({ top, left: scrolledTo(begin, end, seen.left, view.width - left) });
  };
  return {
    rowHeight: height,
    selectWidth: left,
    offsets,
    rows: visibleRows(rowCount, height, view.top, view.height, overscan),
    columns: useStable(visibleColumns(offsets, view.left, Math.max(0, view.width - left))),
    page: Math.max(1, Math.floor(view.height / height) - 1),
    reveal,
  };
}

/** The size of 1 rem in pixels. Users can set another font size in their browser, so it is not always 16. */
function useRem(): number {
  return useMemo(() => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16, []);
}

/** Returns the same object as long as its content is equal, so that rows with this property are not rendered again. */
function useStable<T extends object>(value: T): T {
  const kept = useRef(value);
  if (JSON.stringify(kept.current) !== JSON.stringify(value)) kept.current = value;
  return kept.current;
}
