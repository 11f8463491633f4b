import { useState } from "preact/hooks";
import { texts } from "../texts.js";
import { Button } from "./button.js";

/** A text that people want to copy, such as a secret, with a button. */
export function Copyable({ text, isSecret = false }: { readonly text: string; readonly isSecret?: boolean }) {
  return (
    <div class="copyable">
      <code class={isSecret ? "secret" : ""}>{text}</code>
      <CopyButton text={text} />
    </div>
  );
}

/** A button that copies a text to the clipboard, and shows for a moment that it has done so. */
export function CopyButton({ text }: { readonly text: string }) {
  const [isDone, setDone] = useState(false);
  return (
    <Button
      kind="quiet"
      isSmall
      icon={isDone ? "check" : "copy"}
      label={isDone ? texts.app.copied : texts.app.copy}
      onPress={async () => {
        await navigator.clipboard.writeText(text);
        setDone(true);
        setTimeout(() => setDone(false), 1500);
      }}
    />
  );
}
