import { useEffect, useId, useRef } from "preact/hooks";
import type { SchemaColumn, SchemaTable } from "../../../wire/schema-in-force.js";
import { Editor } from "../../editor/editor.js";
import { CellValue, ReferenceLink } from "../../grid/cell.js";
import { defaultText, type FieldState, textAtFirst } from "../../grid/row-form.js";
import { editText, isPreview, sizeText, type ValueProblem } from "../../grid/value.js";
import { Button } from "../../parts/button.js";
import { Text } from "../../parts/text.js";
import type { TableRow } from "../../server/table-row.js";
import { texts } from "../../texts.js";

interface RowFieldProps {
  readonly table: SchemaTable;
  readonly column: SchemaColumn;
  readonly row: TableRow | null;
  /** The values that were shown by their beginnings, and then loaded whole. */
  readonly whole: TableRow;
  readonly state: FieldState;
  readonly problem: ValueProblem | null;
  readonly isOpen: boolean;
  readonly isFocused: boolean;
  readonly onLoad: () => Promise<void>;
  readonly onChange: (state: FieldState) => void;
}

/** One column of a row, only shown or as a field. A button loads the whole of a long value. */
export function RowField(props: RowFieldProps) {
  const { table, column, row, whole, state, problem, isOpen, isFocused, onLoad, onChange } = props;
  const id = useId();
  const isWhole = Object.hasOwn(whole, column.name);
  const given = (isWhole ? whole : row)?.[column.name];
  const isCut = !isWhole && isPreview(given);
  const otherwise = row === null ? defaultText(column) : null;
  return (
    <div class="row-field">
      <div class="row-field-head">
        <label id={`${id}-label`} for={id}>
          {column.name}
        </label>
        <span class="muted small">{factsOf(column, table)}</span>
        <ReferenceLink column={column} value={given} isTabbed />
      </div>
      {isCut && (
        <div class="row-field-cut">
          <CellValue column={column} value={given} />
          <Button isSmall onPress={onLoad}>
            {texts.data.loadWhole(sizeText(given.bytes))}
          </Button>
        </div>
      )}
      {!isCut && !isOpen && row !== null && <ReadOnly column={column} value={given} />}
      {!isCut && !isOpen && row === null && <p class="hint">{texts.data.serverSets}</p>}
      {!isCut && isOpen && (
        <Input
          id={id}
          column={column}
          value={given}
          state={state}
          otherwise={otherwise}
          isNew={row === null}
          isFocused={isFocused}
          onChange={onChange}
        />
      )}
      {problem !== null && (
        <p class="problem" role="alert">
          {texts.values.problems[problem]}
        </p>
      )}
    </div>
  );
}

function ReadOnly({ column, value }: { readonly column: SchemaColumn; readonly value: unknown }) {
  if (column.type === "json" && value !== null && value !== undefined)
    return (
      <pre class="code">
        <Text value={editText("json", value)} />
      </pre>
    );
  return (
    <div class="row-field-value">
      {typeof value === "string" && column.type === "text" ? (
        <Paragraphs text={value} />
      ) : (
        <CellValue column={column} value={value} />
      )}
    </div>
  );
}

/** Shows each line of a text in an element of its own. */
function Paragraphs({ text }: { readonly text: string }) {
  return (
    <>
      {text.split("\n").map((line, i) => (
        <div key={i}>{line === "" ? " " : <Text value={line} />}</div>
      ))}
    </>
  );
}

interface InputProps {
  readonly id: string;
  readonly column: SchemaColumn;
  readonly value: unknown;
  readonly state: FieldState;
  readonly otherwise: string | null;
  readonly isNew: boolean;
  readonly isFocused: boolean;
  readonly onChange: (state: FieldState) => void;
}

function Input({ id, column, value, state, otherwise, isNew, isFocused, onChange }: InputProps) {
  const field = useRef<HTMLTextAreaElement & HTMLInputElement & HTMLSelectElement>(null);
  // `autofocus` counts when the dialog opens. The effect is for a field that comes later, with a loaded value.
  useEffect(() => {
    if (isFocused) field.current?.focus();
  }, []);
  const isNull = state.mode === "null" || (state.mode === "kept" && value === null);
  const isDefaultNull = isNew && state.mode === "kept" && otherwise === null;
  const text = state.mode === "value" ? state.text : isNull ? "" : textAtFirst(column, value);
  const set = (next: string) => onChange({ mode: "value", text: next });
  const placeholder = isNull ? "NULL" : isNew && state.mode === "kept" ? placeholderOf(column, otherwise) : "";
  const common = {
    id,
    ref: field,
    class: "input",
    placeholder,
    autofocus: isFocused,
    spellcheck: false,
    autocomplete: "off" as const,
  };
  return (
    <div class="row-field-input">
      {column.type === "boolean" ? (
        <select
          {...common}
          value={state.mode === "value" ? text : isNull ? "null" : isNew ? "" : text}
          onChange={(event) => onChange(chosen(event.currentTarget.value))}
        >
          {isNew && <option value="">{placeholderOf(column, otherwise) || "–"}</option>}
          {!column.not_null && (!isNew || otherwise !== null) && <option value="null">NULL</option>}
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      ) : column.type === "json" ? (
        <JsonInput label={column.name} text={isNull ? null : text} isFocused={isFocused} onChange={set} />
      ) : column.type === "text" && (text.length > 60 || text.includes("\n")) ? (
        <textarea
          {...common}
          class="input area"
          rows={6}
          value={text}
          onInput={(event) => set(event.currentTarget.value)}
        />
      ) : column.type === "blob" ? (
        <BlobInput id={id} text={text} onChange={set} />
      ) : (
        <input
          {...common}
          inputMode={column.type === "text" ? "text" : "decimal"}
          value={text}
          onInput={(event) => set(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (column.type !== "text" || event.key !== "Enter" || !event.shiftKey) return;
            event.preventDefault();
            set(`${text}\n`);
          }}
        />
      )}
      {!column.not_null && column.type !== "boolean" && !isNull && !isDefaultNull && (
        <Button isSmall kind="quiet" onPress={() => onChange({ mode: "null" })}>
          {texts.values.setNull}
        </Button>
      )}
      {state.mode !== "kept" && (
        <Button
          isSmall
          kind="quiet"
          icon="undo"
          label={texts.values.reset}
          onPress={() => onChange({ mode: "kept" })}
        />
      )}
    </div>
  );
}

/** The empty option leaves the column out, so that it gets its default. */
function chosen(option: string): FieldState {
  if (option === "") return { mode: "kept" };
  return option === "null" ? { mode: "null" } : { mode: "value", text: option };
}

function placeholderOf({ not_null: isNeeded }: SchemaColumn, otherwise: string | null): string {
  if (otherwise !== null) return texts.data.defaultOf(otherwise);
  return isNeeded ? "" : "NULL";
}

interface JsonInputProps {
  readonly label: string;
  readonly text: string | null;
  readonly isFocused: boolean;
  readonly onChange: (text: string) => void;
}

/** An editor, or for NULL a button that begins a value. */
function JsonInput({ label, text, isFocused, onChange }: JsonInputProps) {
  if (text === null)
    return (
      <div class="row-field-null">
        <span class="null">NULL</span>
        <Button isSmall onPress={() => onChange("{}")}>
          {texts.values.give}
        </Button>
      </div>
    );
  return <Editor label={label} language="json" class="short" text={text} isFocused={isFocused} onChange={onChange} />;
}

/** The bytes of a blob are taken from a file that the user chooses. */
function BlobInput({
  id,
  text,
  onChange,
}: {
  readonly id: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
}) {
  const take = async (file: File | undefined) => {
    if (!file) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    const pieces: string[] = [];
    for (let at = 0; at < bytes.length; at += 0x8000)
      pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
    onChange(btoa(pieces.join("")));
  };
  return (
    <div class="blob-input">
      <input id={id} type="file" onChange={(event) => take(event.currentTarget.files?.[0])} />
      {text !== "" && <span class="muted small">{sizeText((text.length / 4) * 3)}</span>}
    </div>
  );
}

function factsOf(column: SchemaColumn, table: SchemaTable): string {
  const facts = [
    column.type,
    table.primary_key.includes(column.name) && texts.data.key,
    column.not_null && texts.data.needed,
    column.managed && texts.data.managed(column.managed),
    column.generated && texts.data.generated,
    column.references && `→ ${column.references.table}`,
  ];
  return facts.filter(Boolean).join(" · ");
}
