import { useMemo } from "preact/hooks";
import type { SchemaColumn } from "../../wire/schema-in-force.js";
import { Icon } from "../parts/icon.js";
import { texts } from "../texts.js";
import type { RenderedGrid } from "./grid-events.js";

/** The row of headings, with the checkbox that selects all rows. */
export function GridHead({ id, grid }: { readonly id: string; readonly grid: RenderedGrid }) {
  const { rowIds, viewport, active } = grid;
  const { columns, sort, selected, isSelectable, onSelect } = grid.props;
  const { rowHeight, selectWidth, offsets, columns: range } = viewport;
  const ids = useMemo(() => rowIds.filter((each) => each !== null), [rowIds]);
  const areAllSelected = ids.length > 0 && ids.every((each) => selected.has(each));
  return (
    <div
      role="row"
      class="grid-head"
      aria-rowindex={1}
      style={{ width: `${selectWidth + offsets.at(-1)!}px`, height: `${rowHeight}px` }}
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
      {columns.slice(range.first, range.end).map((column, i) => {
        const at = range.first + i;
        return (
          <Heading
            key={column.name}
            id={`${id}--1-${at}`}
            index={at}
            column={column}
            sort={sort}
            isActive={active.row < 0 && active.column === at}
            style={{
              left: `${selectWidth + offsets[at]!}px`,
              width: `${offsets[at + 1]! - offsets[at]!}px`,
            }}
          />
        );
      })}
    </div>
  );
}

interface HeadingProps {
  readonly id: string;
  readonly index: number;
  readonly column: SchemaColumn;
  readonly sort: readonly string[];
  readonly isActive: boolean;
  readonly style: { readonly left: string; readonly width: string };
}

function Heading({ id, index, column, sort, isActive, style }: HeadingProps) {
  const { name, type, not_null: isNeeded } = column;
  const direction = sort.includes(name) ? "up" : sort.includes(`-${name}`) ? "down" : null;
  return (
    <div
      role="columnheader"
      id={id}
      class={isActive ? "grid-cell active" : "grid-cell"}
      aria-colindex={index + 2}
      aria-sort={direction === null ? "none" : direction === "up" ? "ascending" : "descending"}
      data-head={index}
      title={`${name}: ${type}${isNeeded ? "" : ` ${texts.data.orNull}`}`}
      style={style}
    >
      <span class="head-name">{name}</span>
      <span class="head-type">{type}</span>
      {direction && <Icon name={direction} />}
    </div>
  );
}
