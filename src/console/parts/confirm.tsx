import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Dialog } from "./dialog.js";
import { Form } from "./form.js";

interface Question {
  readonly title: string;
  readonly text: ComponentChildren;
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Is done when the person has agreed. The window stays open and says why where it fails. */
  readonly act: () => Promise<unknown>;
}

const question = signal<Question | null>(null);

/** Asks before something is done that cannot be taken back easily. */
export function confirm(asked: Question): void {
  question.value = asked;
}

export function Confirmation() {
  const asked = question.value;
  if (asked === null) return null;
  const close = () => {
    question.value = null;
  };
  return (
    <Dialog title={asked.title} onClose={close}>
      <Form
        action={asked.action}
        isDangerous={asked.isDangerous ?? true}
        onCancel={close}
        onSubmit={async () => {
          await asked.act();
          close();
        }}
      >
        <div class="prose">{asked.text}</div>
      </Form>
    </Dialog>
  );
}
