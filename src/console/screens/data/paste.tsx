import { SvcError } from "../../../client/index.js";
import { keyLabel, keyOf } from "../../grid/row-key.js";
import { parseValue } from "../../grid/value.js";
import { confirm } from "../../parts/confirm.js";
import { messageOf, tell, tellFailure } from "../../parts/toasts.js";
import type { Column, Row, TableShape } from "../../server/shapes.js";
import { texts } from "../../texts.js";
import { keepsHistory, restoreBefore, saveChange } from "./save-change.js";

/** Where cells are pasted: the columns and the rows that are there, from the first cell on. */
export interface PasteTarget {
  readonly table: TableShape;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly isWritable: (column: Column) => boolean;
}

/** The change of one row by pasted cells. */
export interface PastedChange {
  readonly row: Row;
  readonly values: Row;
}

/** What pasting cells would change, and texts that say what of the cells cannot be written, and why. */
export interface PastePlan {
  readonly changes: readonly PastedChange[];
  readonly leftOut: readonly string[];
}

/**
 * Plans what pasting cells would change. A value that a row has already is no change. An empty cell is NULL where the
 * column may be NULL, but in a column of texts it is an empty text.
 */
export function planPaste(target: PasteTarget, cells: readonly (readonly string[])[]): PastePlan {
  const { table, columns, rows, isWritable } = target;
  const width = cells.reduce((most, line) => Math.max(most, line.length), 0);
  const covered = columns.slice(0, width);
  const readOnly = covered.filter((column) => !isWritable(column)).map(({ name }) => name);
  const leftOut = [
    ...(cells.length > rows.length ? [texts.paste.rowsBelow(cells.length - rows.length)] : []),
    ...(width > columns.length ? [texts.paste.columnsBeside(width - columns.length)] : []),
    ...(readOnly.length > 0 ? [texts.paste.readOnly(readOnly.join(", "))] : []),
  ];
  const changes: PastedChange[] = [];
  for (const [i, row] of rows.slice(0, cells.length).entries()) {
    const values: Record<string, unknown> = {};
    for (const [j, column] of covered.entries()) {
      const text = cells[i]![j];
      if (text === undefined || !isWritable(column)) continue;
      const parsed = pastedValue(column, text);
      if ("problem" in parsed)
        leftOut.push(
          texts.paste.cell(column.name, labelOf(table, row), texts.values.problems[parsed.problem]),
        );
      else if (JSON.stringify(parsed.value) !== JSON.stringify(row[column.name]))
        values[column.name] = parsed.value;
    }
    if (Object.keys(values).length > 0) changes.push({ row, values });
  }
  return { changes, leftOut };
}

function pastedValue({ type, not_null: isNeeded }: Column, text: string) {
  return text === "" && type !== "text" && !isNeeded ? { value: null } : parseValue(type, text);
}

function labelOf(table: TableShape, row: Row): string {
  const key = keyOf(table, row);
  return key === null ? table.name : keyLabel(key);
}

/**
 * Writes pasted cells, each row as one change, and shows what was changed and what was not. Where several rows change,
 * the user is asked first. `onRows` is called with rows as they are after a change.
 */
export async function pasteInto(
  target: PasteTarget,
  cells: readonly (readonly string[])[],
  onRows: (rows: readonly Row[]) => void,
): Promise<void> {
  const { table } = target;
  const { changes, leftOut } = planPaste(target, cells);
  if (changes.length <= 1) return write(table, changes, leftOut, onRows);
  confirm({
    title: texts.paste.title(changes.length),
    text: (
      <>
        <p>{keepsHistory(table) ? texts.paste.kept : texts.paste.lost}</p>
        {leftOut.length > 0 && <p>{texts.paste.leftOut(someOf(leftOut))}</p>}
      </>
    ),
    action: texts.paste.action,
    isDangerous: !keepsHistory(table),
    act: () => write(table, changes, [], onRows),
  });
}

async function write(
  table: TableShape,
  changes: readonly PastedChange[],
  leftOut: readonly string[],
  onRows: (rows: readonly Row[]) => void,
): Promise<void> {
  const { saved, failures } = await saveAll(table, changes);
  onRows(saved);
  const undo = async () => {
    for (const row of saved) onRows([await restoreBefore(table, keyOf(table, row)!, row)]);
  };
  const action = keepsHistory(table) ? { label: texts.app.undo, act: undo } : undefined;
  if (saved.length > 0) tell(texts.paste.changed(saved.length), action);
  const missing = [...leftOut, ...failures];
  if (missing.length > 0) tellFailure(new Error(texts.paste.leftOut(someOf(missing))));
  else if (saved.length === 0) tell(texts.paste.nothing);
}

/** Writes the changes one after the other, and returns the rows that were changed, and why others were not. */
async function saveAll(table: TableShape, changes: readonly PastedChange[]) {
  const saved: Row[] = [];
  const failures: string[] = [];
  for (const [i, { row, values }] of changes.entries()) {
    try {
      const done = await saveChange(table, row, values);
      if (done.outcome === "saved") saved.push(done.row);
      else failures.push(texts.paste.row(labelOf(table, row), texts.data.conflict));
    } catch (error) {
      failures.push(texts.paste.row(labelOf(table, row), messageOf(error)));
      // Without a server or a session the other changes would fail as well.
      const isOver = error instanceof SvcError && (error.status === 0 || error.status === 401);
      if (!isOver) continue;
      if (i + 1 < changes.length) failures.push(texts.paste.notTried(changes.length - i - 1));
      break;
    }
  }
  return { saved, failures };
}

const namedMax = 5;

function someOf(reasons: readonly string[]): string {
  const rest = reasons.length - namedMax;
  return [...reasons.slice(0, namedMax), ...(rest > 0 ? [texts.paste.more(rest)] : [])].join("; ");
}
