import { useState } from "preact/hooks";
import type { SchemaColumn, SchemaTable } from "../../../wire/schema-in-force.js";
import { callerParameters } from "../../callers/caller-parameters.js";
import { type FieldStates, formValues, isOfPeople } from "../../grid/row-form.js";
import { keyLabel, primaryKeyOf } from "../../grid/row-key.js";
import { Button } from "../../parts/button.js";
import { confirm } from "../../parts/confirm.js";
import { Dialog } from "../../parts/dialog.js";
import { Form } from "../../parts/form.js";
import { notify } from "../../parts/notify.js";
import { Tabs } from "../../parts/tabs.js";
import { hrefOf } from "../../route.js";
import type { As } from "../../server/as.js";
import type { TableRow } from "../../server/table-row.js";
import { clientTable } from "../../server/tables.js";
import { texts } from "../../texts.js";
import { removeRows } from "./bulk-bar.js";
import { type Conflict, ConflictDialog } from "./conflict-dialog.js";
import { RowField } from "./row-field.js";
import { RowHistory } from "./row-history.js";
import { keepsHistory, saveChange, wholeValues } from "./save-change.js";

interface RowDrawerProps {
  readonly table: SchemaTable;
  /** Null for the form for a new row. */
  readonly row: TableRow | null;
  readonly column: string | null;
  readonly as: As | null;
  readonly isChangeable: boolean;
  readonly onClose: () => void;
  /** The row was created, deleted or restored. */
  readonly onChanged: () => void;
  /** Called with the row as it was saved. */
  readonly onSaved: (row: TableRow) => void;
  /** Called with the row as somebody else has changed it, if that is to stay. */
  readonly onKept: (row: TableRow) => void;
}

/** What the user has done in the form so far. */
interface Draft {
  readonly states: FieldStates;
  /** The long values that were loaded whole. */
  readonly whole: TableRow;
}

/** A panel with one row: all its columns and its history, if the table keeps it; or the form for a new row. */
export function RowDrawer(props: RowDrawerProps) {
  const { table, row } = props;
  const [tab, setTab] = useState<"columns" | "history">("columns");
  // Kept here, so that the draft is still there when the user comes back from the history.
  const [draft, setDraft] = useState<Draft>({ states: {}, whole: {} });
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const isChanged = Object.values(draft.states).some(({ mode }) => mode !== "kept");
  const onClose = () =>
    isChanged
      ? confirm({
          title: texts.data.dropTitle,
          text: texts.data.dropHelp,
          action: texts.data.drop,
          act: async () => props.onClose(),
        })
      : props.onClose();
  const key = row === null ? null : primaryKeyOf(table, row);
  const title = row === null ? texts.data.newRowOf(table.name) : texts.data.rowOf(table.name, key && keyLabel(key));
  return (
    <>
      <Dialog kind="side" title={title} onClose={onClose}>
        {key !== null && props.as === null && keepsHistory(table) && (
          <Tabs
            label={title}
            value={tab}
            tabs={[
              ["columns", texts.data.columns],
              ["history", texts.data.history],
            ]}
            onChange={setTab}
          />
        )}
        {tab === "columns" ? (
          <RowForm
            {...props}
            rowKey={key}
            draft={draft}
            isChanged={isChanged}
            onDraft={setDraft}
            onCancel={onClose}
            onConflict={setConflict}
          />
        ) : (
          <RowHistory
            table={table}
            rowKey={key!}
            isChangeable={props.isChangeable}
            onRestored={() => {
              props.onChanged();
              props.onClose();
            }}
          />
        )}
      </Dialog>
      {conflict && <ConflictDialog table={table} {...conflict} />}
    </>
  );
}

interface RowFormProps extends RowDrawerProps {
  readonly rowKey: TableRow | null;
  readonly draft: Draft;
  readonly isChanged: boolean;
  readonly onDraft: (change: (draft: Draft) => Draft) => void;
  /** Called when the user wants to leave the form, which may have unsaved changes. */
  readonly onCancel: () => void;
  readonly onConflict: (conflict: Conflict | null) => void;
}

function RowForm(props: RowFormProps) {
  const { table, row, column: opened, as, isChangeable, rowKey, draft, isChanged } = props;
  const { onDraft, onCancel, onConflict, onClose, onSaved, onKept, onChanged } = props;
  const { states, whole } = draft;
  const columns = table.columns.filter(({ name }) => row === null || name in row);
  const isOpen = (column: SchemaColumn) =>
    isChangeable && isOfPeople(column) && (row === null || !table.primary_key.includes(column.name));
  const asked = formValues(columns, states, row && { ...row, ...whole });
  const problems = "problems" in asked ? asked.problems : {};
  const save = async () => {
    if ("problems" in asked) throw new Error(texts.data.fixFirst);
    if (row === null) {
      await clientTable(table.name, { as: null, isPreviewed: true }).create(asked.values);
      onChanged();
      onClose();
      return notify(texts.data.created);
    }
    await write(asked.values, row, whole);
  };
  /** Writes values, unless the row is not any more as it was shown. */
  const write = async (values: TableRow, shown: TableRow, wholeShown: TableRow): Promise<void> => {
    const done = await saveChange(table, shown, values, wholeShown);
    if (done.outcome === "saved") {
      onSaved(done.row);
      return onClose();
    }
    const { theirs, whole: wholeTheirs } = done;
    onConflict({
      mine: values,
      theirs,
      // What was seen here is overwritten, and not what a third person may have written meanwhile.
      onOverwrite: () => write(values, theirs, wholeTheirs),
      onKeep: () => {
        onKept(theirs);
        onClose();
      },
      onClose: () => onConflict(null),
    });
  };
  const firstOpen = row === null ? columns.find(isOpen)?.name : null;
  const fields = columns.map((column) => (
    <RowField
      key={column.name}
      table={table}
      column={column}
      row={row}
      whole={whole}
      state={states[column.name] ?? { mode: "kept" }}
      problem={problems[column.name] ?? null}
      isOpen={isOpen(column)}
      isFocused={column.name === (opened ?? firstOpen)}
      onLoad={async () => {
        const found = await wholeValues(table, rowKey!, [column.name], as);
        onDraft((before) => ({ ...before, whole: { ...before.whole, ...found } }));
      }}
      onChange={(state) => onDraft((before) => ({ ...before, states: { ...before.states, [column.name]: state } }))}
    />
  ));
  return (
    <>
      {isChangeable ? (
        <Form
          action={row === null ? texts.data.create : texts.app.save}
          isDisabled={row !== null && !isChanged}
          onCancel={onCancel}
          onSubmit={save}
        >
          {fields}
        </Form>
      ) : (
        fields
      )}
      {rowKey !== null && <RowActions {...props} rowKey={rowKey} />}
    </>
  );
}

/** Asking who may read a row, and deleting it. */
function RowActions(props: RowDrawerProps & { readonly rowKey: TableRow }) {
  const { table, as, isChangeable, rowKey, onClose, onChanged } = props;
  const remove = () =>
    confirm({
      title: texts.data.deleteRows(1),
      text: keepsHistory(table) ? texts.data.deleteKept : texts.data.deleteLost,
      action: texts.app.delete,
      act: async () => {
        await removeRows(table, [rowKey]);
        onChanged();
        onClose();
      },
    });
  const whyParameters = {
    table: table.name,
    action: "read",
    ...callerParameters(as),
    key: JSON.stringify(rowKey),
  };
  return (
    <div class="drawer-more">
      <a class="button quiet" href={hrefOf("why", [], whyParameters)}>
        {texts.data.whyRow}
      </a>
      {isChangeable && (
        <Button kind="danger" icon="trash" onPress={remove}>
          {texts.app.delete}
        </Button>
      )}
    </div>
  );
}
