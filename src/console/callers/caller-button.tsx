import { useState } from "preact/hooks";
import { Button } from "../parts/button.js";
import { Text } from "../parts/text.js";
import type { As } from "../server/as.js";
import { CallerPicker } from "./caller-picker.js";
import { useCallerLabel } from "./use-caller-label.js";

interface CallerButtonProps {
  readonly as: As | null;
  /** The text on the button if no caller is chosen. */
  readonly none: string;
  /** What the caller is chosen for: the title of the dialog, and part of what screen readers say for the button. */
  readonly title: string;
  readonly onChange: (as: As) => void;
}

/** A button that names the caller as whom the administrator views data, and opens a dialog to choose another. */
export function CallerButton({ as, none, title, onChange }: CallerButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const label = useCallerLabel(as);
  return (
    <>
      <Button icon="eye" class="caller" onPress={() => setOpen(true)}>
        <span class="visually-hidden">{title}</span>
        <Text value={label ?? none} />
      </Button>
      {isOpen && (
        <CallerPicker
          title={title}
          onClose={() => setOpen(false)}
          onPick={(picked) => {
            setOpen(false);
            onChange(picked);
          }}
        />
      )}
    </>
  );
}
