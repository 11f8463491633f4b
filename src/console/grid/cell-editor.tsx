import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { SchemaColumn } from "../../wire/schema-in-force.js";
import { messageOf } from "../parts/notify.js";
import { texts } from "../texts.js";
import { editText, parseValue } from "./value.js";

interface CellEditorProps {
  readonly column: SchemaColumn;
  readonly value: unknown;
  readonly typed: string | null;
  readonly onSave: (value: unknown) => Promise<void>;
  readonly onCancel: () => void;
}

/** A field in place of a cell. Enter saves the change, Escape drops it. */
export function CellEditor({ column, value, typed, onSave, onCancel }: CellEditorProps) {
  const { type, not_null: isNeeded, name } = column;
  const [text, setText] = useState(typed ?? (value === null ? "" : editText(type, value)));
  const [isNull, setNull] = useState(value === null && typed === null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement & HTMLSelectElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    if (typed === null && field.current instanceof HTMLInputElement) field.current.select();
  }, []);
  const save = async (isNullNow = isNull, textNow = text) => {
    // Saving a second time would be a conflict with the first.
    if (isBusy) return;
    const parsed = isNullNow ? { value: null } : parseValue(type, textNow);
    if ("problem" in parsed) return setProblem(texts.values.problems[parsed.problem]);
    if (parsed.value === value) return onCancel();
    setBusy(true);
    try {
      await onSave(parsed.value);
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
      field.current?.focus();
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === "Escape") onCancel();
    if (event.key === "Enter") {
      event.preventDefault();
      void save();
    }
  };
  return (
    <div class="cell-editor" onKeyDown={onKeyDown} aria-busy={isBusy || undefined}>
      {type === "boolean" ? (
        <BooleanSelect
          field={field}
          column={column}
          value={isNull ? "" : text}
          onChange={(chosen) => {
            setText(chosen);
            setNull(chosen === "");
          }}
        />
      ) : (
        <input
          ref={field}
          class="cell-input"
          aria-label={name}
          aria-invalid={problem !== null}
          spellcheck={false}
          autocomplete="off"
          inputMode={type === "text" ? "text" : "decimal"}
          placeholder={isNull ? "NULL" : ""}
          value={isNull ? "" : text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setNull(false);
            setProblem(null);
          }}
        />
      )}
      {!isNeeded && type !== "boolean" && !isNull && (
        <button type="button" class="cell-null" title={texts.values.setNull} onClick={() => save(true)}>
          NULL
        </button>
      )}
      {problem !== null && (
        <p class="cell-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

interface BooleanSelectProps {
  readonly field: RefObject<HTMLSelectElement | null>;
  readonly column: SchemaColumn;
  /** `true`, `false`, or an empty text for NULL. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function BooleanSelect({ field, column, value, onChange }: BooleanSelectProps) {
  return (
    <select
      ref={field}
      class="cell-input"
      aria-label={column.name}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {!column.not_null && <option value="">NULL</option>}
      <option value="true">true</option>
      <option value="false">false</option>
    </select>
  );
}
