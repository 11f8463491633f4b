import { Component } from "preact";
import type { SchemaColumn } from "../../wire/schema-in-force.js";
import type { TableRow } from "../server/table-row.js";
import { texts } from "../texts.js";
import { CellValue, ReferenceLink } from "./cell.js";
import { CellEditor } from "./cell-editor.js";
import { indexesWith, type VisibleRange } from "./visible-range.js";

/** The cell whose value is being edited in place. */
export interface Editing {
  /** The row when the editing began. Meanwhile it may have been loaded anew, and be at another place. */
  readonly row: TableRow;
  readonly column: string;
  /** The character with which the user began to type over the cell; null if it began otherwise, as by Enter. */
  readonly typed: string | null;
}

/** The properties of a row of the grid: what it shows and where, its active cell, and the cell that is edited. */
export interface GridRowProps {
  readonly gridId: string;
  readonly index: number;
  readonly row: TableRow;
  readonly top: number;
  readonly height: number;
  readonly columns: readonly SchemaColumn[];
  readonly offsets: readonly number[];
  readonly range: VisibleRange;
  readonly isSelected: boolean;
  readonly isSelectable: boolean;
  /** The column of the active cell, -1 for the checkboxes; null if the active cell is in another row. */
  readonly active: number | null;
  readonly editing: Editing | null;
  readonly onSave: (value: unknown) => Promise<void>;
  readonly onCancel: () => void;
}

const handlers: readonly (keyof GridRowProps)[] = ["onSave", "onCancel"];

/** A row. Only a changed property that is no handler renders it again: scrolling a grid renders many rows. */
export class GridRow extends Component<GridRowProps> {
  override shouldComponentUpdate(next: GridRowProps): boolean {
    const names = Object.keys(next) as (keyof GridRowProps)[];
    return names.some((name) => !handlers.includes(name) && next[name] !== this.props[name]);
  }

  override render() {
    const { gridId, index, row, top, height, columns, offsets, range, isSelected, isSelectable, active, editing } =
      this.props;
    const editedColumn = editing === null ? -1 : columns.findIndex(({ name }) => name === editing.column);
    return (
      <div
        role="row"
        class={isSelected ? "grid-row selected" : "grid-row"}
        aria-rowindex={index + 2}
        aria-selected={isSelectable ? isSelected : undefined}
        data-row={index}
        style={{ transform: `translateY(${top}px)`, height: `${height}px` }}
      >
        <div
          role="gridcell"
          id={`${gridId}-${index}--1`}
          class={active === -1 ? "grid-cell grid-select active" : "grid-cell grid-select"}
          aria-colindex={1}
          data-column={-1}
        >
          {isSelectable && (
            <input type="checkbox" tabIndex={-1} checked={isSelected} aria-label={texts.data.selectRow(index + 1)} />
          )}
          <button type="button" class="grid-open" tabIndex={-1} aria-label={texts.data.openRow(index + 1)}>
            <span aria-hidden="true">⤢</span>
          </button>
        </div>
        {indexesWith(range, editedColumn < 0 ? null : editedColumn).map((at) => {
          const column = columns[at]!;
          const value = row[column.name];
          const isNumber = column.type === "integer" || column.type === "real" || column.type === "blob";
          const classes = ["grid-cell", isNumber && "number", column.type === "json" && "mono"];
          return (
            <div
              key={column.name}
              role="gridcell"
              id={`${gridId}-${index}-${at}`}
              class={[...classes, active === at && "active"].filter(Boolean).join(" ")}
              aria-colindex={at + 2}
              data-column={at}
              style={{ left: `${offsets[at]}px`, width: `${offsets[at + 1]! - offsets[at]!}px` }}
            >
              {editing !== null && at === editedColumn ? (
                <CellEditor
                  column={column}
                  value={editing.row[column.name]}
                  typed={editing.typed}
                  onSave={this.props.onSave}
                  onCancel={this.props.onCancel}
                />
              ) : (
                <>
                  <CellValue class="cell-value" column={column} value={value} />
                  <ReferenceLink column={column} value={value} />
                </>
              )}
            </div>
          );
        })}
      </div>
    );
  }
}
