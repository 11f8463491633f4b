import { useState } from "preact/hooks";
import { Button } from "../parts/button.js";
import type { As } from "../server/as.js";
import { texts } from "../texts.js";
import { CallerPicker } from "./caller-picker.js";

interface CallerButtonProps {
  readonly as: As | null;
  /** What stands there where nobody is chosen. */
  readonly none: string;
  readonly title: string;
  readonly onChange: (as: As) => void;
}

/** Shows through whose eyes one looks, and lets one choose another. */
export function CallerButton({ as, none, title, onChange }: CallerButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon="eye" class="caller" onPress={() => setOpen(true)}>
        <span class="visually-hidden">{texts.callers.through}</span>
        <bdi>{as?.label ?? none}</bdi>
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
