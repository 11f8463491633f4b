import type { SchemaTable } from "../../../wire/schema-in-force.js";
import { primaryKeyOf } from "../../grid/row-key.js";
import { Button } from "../../parts/button.js";
import { confirm } from "../../parts/confirm.js";
import { notify } from "../../parts/notify.js";
import { requestData } from "../../server/request-data.js";
import type { TableRow } from "../../server/table-row.js";
import { texts } from "../../texts.js";
import { keepsHistory } from "./save-change.js";
import { undoAll, undoOfDeletion } from "./undo.js";

interface BulkBarProps {
  readonly table: SchemaTable;
  readonly rows: readonly TableRow[];
  readonly onClear: () => void;
  readonly onChanged: () => void;
}

/** What can be done with the selected rows: delete them, or select none. */
export function BulkBar({ table, rows, onClear, onChanged }: BulkBarProps) {
  const remove = () =>
    confirm({
      title: texts.data.deleteRows(rows.length),
      text: keepsHistory(table) ? texts.data.deleteKept : texts.data.deleteLost,
      action: texts.app.delete,
      act: async () => {
        const keys = rows.map((row) => primaryKeyOf(table, row)).filter((key) => key !== null);
        // If it fails in the middle, some of the rows are deleted already.
        await removeRows(table, keys).finally(onChanged);
        onClear();
        const undos = keys.map((key) => undoOfDeletion(table, key));
        const undo = () => undoAll(undos, () => {}).finally(onChanged);
        notify(texts.data.deleted(keys.length), keepsHistory(table) ? { label: texts.app.undo, act: undo } : undefined);
      },
    });
  return (
    <div class="bulk">
      <b>{texts.data.selected(rows.length)}</b>
      <Button isSmall kind="danger" icon="trash" onPress={remove}>
        {texts.app.delete}
      </Button>
      <Button isSmall kind="quiet" onPress={onClear}>
        {texts.data.clearSelection}
      </Button>
    </div>
  );
}

/** How many writes one batch request may have. */
const batchMax = 100;

/** Deletes rows, each hundred of them in a transaction of its own. */
export async function removeRows(table: SchemaTable, keys: readonly TableRow[]): Promise<void> {
  for (let from = 0; from < keys.length; from += batchMax) {
    const some = keys.slice(from, from + batchMax);
    const operations = some.map((key) => ({ op: "delete", table: table.name, key }));
    await requestData("POST", "/data/_svc/batch", { operations });
  }
}
