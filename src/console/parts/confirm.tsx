import { effect, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { session } from "../server/session-state.js";
import { Dialog } from "./dialog.js";
import { Form } from "./form.js";

interface ConfirmOptions {
  readonly title: string;
  readonly text: ComponentChildren;
  readonly action: string;
  readonly isDangerous?: boolean;
  /**
   * Carried out when the person has agreed. The dialog closes when it has succeeded; if it fails, the dialog stays open
   * and says why. Closing the dialog before that aborts the signal.
   */
  readonly act: (signal: AbortSignal) => Promise<unknown>;
}

const question = signal<ConfirmOptions | null>(null);

// A question to somebody who is signed out now is not put to the next person who signs in.
effect(() => {
  if (session.value === null) question.value = null;
});

/** Asks the person to agree before an action that cannot easily be undone. */
export function confirm(asked: ConfirmOptions): void {
  question.value = asked;
}

/** The dialog that `confirm` opens; nothing while no question is open. */
export function ConfirmationDialog() {
  const asked = question.value;
  if (asked === null) return null;
  // Another question may have been put while this action went on.
  const close = () => {
    if (question.value === asked) question.value = null;
  };
  return (
    <Dialog title={asked.title} onClose={close}>
      <Form
        action={asked.action}
        isDangerous={asked.isDangerous ?? true}
        onCancel={close}
        onSubmit={async () => {
          const controller = new AbortController();
          const unwatch = effect(() => {
            if (question.value !== asked) controller.abort();
          });
          await asked.act(controller.signal).finally(unwatch);
          close();
        }}
      >
        <div class="prose">{asked.text}</div>
      </Form>
    </Dialog>
  );
}
