import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** Renders the control with this id. */
  readonly children: (id: string) => ComponentChildren;
}

/** A control with its label above it, and a hint below. */
function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id)}
      {hint && <p class="hint">{hint}</p>}
    </div>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly value: string;
  readonly type?: "text" | "email" | "password" | "search" | "datetime-local";
  readonly autoComplete?: string;
  readonly placeholder?: string;
  readonly isFocused?: boolean;
  readonly onInput: (value: string) => void;
}

/** A labelled field for one line of text. */
export function TextField(props: TextFieldProps) {
  const { label, hint, value, type = "text", autoComplete = "off", placeholder, isFocused, onInput } = props;
  return (
    <Field label={label} hint={hint}>
      {(id) => (
        <input
          id={id}
          class="input"
          type={type as "text"}
          value={value}
          autocomplete={autoComplete as "off"}
          placeholder={placeholder}
          spellcheck={false}
          autofocus={isFocused ?? false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface SelectProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, label: string])[];
  readonly isLabelHidden?: boolean;
  readonly hint?: ComponentChildren;
  readonly isDisabled?: boolean;
  readonly onChange: (value: Value) => void;
}

/** A labelled list of options, of which one is chosen. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, value, options, isLabelHidden, hint, isDisabled, onChange } = props;
  const element = (id?: string) => (
    <select
      id={id}
      class="input select"
      aria-label={isLabelHidden ? label : undefined}
      value={value}
      disabled={isDisabled ?? false}
      onChange={(event) => onChange(event.currentTarget.value as Value)}
    >
      {options.map(([option, text]) => (
        <option key={option} value={option} selected={option === value}>
          {text}
        </option>
      ))}
    </select>
  );
  return isLabelHidden ? (
    element()
  ) : (
    <Field label={label} hint={hint}>
      {element}
    </Field>
  );
}

interface CheckboxProps {
  readonly label: ComponentChildren;
  readonly isChecked: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

/** A checkbox with its label. */
export function Checkbox({ label, isChecked, isDisabled, onChange }: CheckboxProps) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled ?? false}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
