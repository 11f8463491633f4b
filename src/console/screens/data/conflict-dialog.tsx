import { Fragment } from "preact";
import type { SchemaTable } from "../../../wire/schema-in-force.js";
import { CellValue } from "../../grid/cell.js";
import { Button } from "../../parts/button.js";
import { Dialog } from "../../parts/dialog.js";
import type { TableRow } from "../../server/table-row.js";
import { texts } from "../../texts.js";

/**
 * Values for a row that somebody else has changed since it was shown: `mine` are the administrator's, by column,
 * `theirs` is the row as it is now.
 */
export interface Conflict {
  readonly mine: TableRow;
  readonly theirs: TableRow;
  readonly onOverwrite: () => Promise<void>;
  readonly onKeep: () => void;
  /** The dialog is closed without a choice. */
  readonly onClose: () => void;
}

/** Shows the administrator's values and those of the row now, and lets the administrator choose which stay. */
export function ConflictDialog(props: Conflict & { readonly table: SchemaTable }) {
  const { table, mine, theirs, onOverwrite, onKeep, onClose } = props;
  return (
    <Dialog title={texts.data.conflict} onClose={onClose}>
      <p class="prose">{texts.data.conflictHelp}</p>
      <dl class="facts">
        {table.columns
          .filter(({ name }) => Object.hasOwn(mine, name))
          .map((column) => (
            <Fragment key={column.name}>
              <dt>{texts.data.theirs(column.name)}</dt>
              <dd>
                <CellValue column={column} value={theirs[column.name]} />
              </dd>
              <dt>{texts.data.mine(column.name)}</dt>
              <dd>
                <CellValue column={column} value={mine[column.name]} />
              </dd>
            </Fragment>
          ))}
      </dl>
      <div class="form-actions">
        <Button onPress={onKeep}>{texts.data.keepTheirs}</Button>
        <Button kind="danger" onPress={onOverwrite}>
          {texts.data.overwrite}
        </Button>
      </div>
    </Dialog>
  );
}
