import { Value } from "../../grid/cell.js";
import { Button } from "../../parts/button.js";
import { Dialog } from "../../parts/dialog.js";
import type { Row, TableShape } from "../../server/shapes.js";
import { texts } from "../../texts.js";

/**
 * A value that the administrator has changed in a row that somebody else has changed since it was shown. `mine` is the
 * administrator's value, `theirs` the row as it is now.
 */
export interface Conflict {
  readonly column: string;
  readonly mine: unknown;
  readonly theirs: Row;
  readonly onOverwrite: () => Promise<void>;
  readonly onKeep: (theirs: Row) => void;
}

/**
 * Shows the administrator's value and the one that the row has now, and lets the administrator choose which of them
 * stays.
 */
export function ConflictDialog(
  props: Conflict & { readonly table: TableShape; readonly onClose: () => void },
) {
  const { table, column, mine, theirs, onOverwrite, onKeep, onClose } = props;
  const shape = table.columns.find(({ name }) => name === column)!;
  const keep = () => {
    onKeep(theirs);
    onClose();
  };
  return (
    <Dialog title={texts.data.conflict} onClose={keep}>
      <p class="prose">{texts.data.conflictHelp}</p>
      <dl class="facts">
        <dt>{texts.data.theirs(column)}</dt>
        <dd>
          <Value column={shape} value={theirs[column]} />
        </dd>
        <dt>{texts.data.mine(column)}</dt>
        <dd>
          <Value column={shape} value={mine} />
        </dd>
      </dl>
      <div class="form-actions">
        <Button onPress={keep}>{texts.data.keepTheirs}</Button>
        <Button kind="danger" onPress={onOverwrite}>
          {texts.data.overwrite}
        </Button>
      </div>
    </Dialog>
  );
}
