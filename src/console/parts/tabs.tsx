interface TabsProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly tabs: readonly (readonly [value: Value, label: string])[];
  readonly onChange: (value: Value) => void;
}

/** Buttons, of which one is pressed, to switch between views of the same thing. */
export function Tabs<Value extends string>({ label, value, tabs, onChange }: TabsProps<Value>) {
  return (
    <div class="tabs" role="group" aria-label={label}>
      {tabs.map(([tab, text]) => (
        <button key={tab} type="button" class="tab" aria-pressed={tab === value} onClick={() => onChange(tab)}>
          {text}
        </button>
      ))}
    </div>
  );
}
