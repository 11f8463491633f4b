import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { texts } from "../texts.js";
import { Button } from "./button.js";
import { Text } from "./text.js";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly kind?: "middle" | "wide" | "side";
  readonly onClose: () => void;
}

/** A modal `<dialog>`. It keeps the focus inside, closes by Escape, and gives the focus back to where it was before. */
export function Dialog({ title, children, kind = "middle", onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  const id = useId();
  // A layout effect runs before the browser draws. An ordinary effect would run a frame or more later. Until then the
  // dialog would be drawn but not open: typing would still go to what had the focus before, or nowhere if another open
  // dialog makes everything outside of it inert.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = dialog.current!;
    element.showModal();
    // A browser may close a dialog without `cancel`, as by a gesture. It is opened again, because its owner decides
    // whether it goes, and may want to ask first.
    const reopen = () => {
      element.showModal();
      close.current();
    };
    element.addEventListener("close", reopen);
    return () => {
      element.removeEventListener("close", reopen);
      element.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${kind}`}
      aria-labelledby={id}
      onKeyDown={(event) => {
        // The browser would close this dialog and the one below it together at a second Escape.
        if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => event.target === dialog.current && kind !== "middle" && onClose()}
    >
      <div class="dialog-head">
        <h2 id={id}>
          <Text value={title} />
        </h2>
        <Button kind="quiet" icon="close" label={texts.app.close} onPress={onClose} />
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
