import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { texts } from "../texts.js";
import { Button } from "./button.js";
import { messageOf } from "./notify.js";

interface FormProps {
  readonly children: ComponentChildren;
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly onCancel?: () => void;
  /** If it fails, its error is shown above the buttons. */
  readonly onSubmit: () => Promise<unknown>;
}

/** While `onSubmit` is running, the form cannot be submitted again. */
export function Form({ children, action, isDangerous, isDisabled, onCancel, onSubmit }: FormProps) {
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy || isDisabled) return;
    setBusy(true);
    setFailure(null);
    try {
      await onSubmit();
    } catch (error) {
      setFailure(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="form" onSubmit={submit} noValidate>
      {children}
      {failure !== null && (
        <p class="problem" role="alert">
          {failure}
        </p>
      )}
      <div class="form-actions">
        {onCancel && <Button onPress={onCancel}>{texts.app.cancel}</Button>}
        <button
          type="submit"
          class={`button ${isDangerous ? "danger" : "main"}`}
          disabled={isDisabled ?? false}
          aria-busy={isBusy || undefined}
        >
          {action}
        </button>
      </div>
    </form>
  );
}
