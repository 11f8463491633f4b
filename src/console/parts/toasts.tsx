import { useEffect, useRef } from "preact/hooks";
import { texts } from "../texts.js";
import { Button } from "./button.js";
import { Icon } from "./icon.js";
import { dismiss, toasts } from "./notify.js";
import { Text } from "./text.js";

/** The messages of `tell.ts`, in a corner of the page. */
export function Toasts() {
  const panel = useRef<HTMLDivElement>(null);
  // The popover is hidden and shown again, so that it lies above a dialog that was opened meanwhile.
  useEffect(() => {
    panel.current?.hidePopover();
    if (toasts.value.length > 0) panel.current?.showPopover();
  }, [toasts.value]);
  return (
    <div class="toasts" ref={panel} popover="manual" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isFailure, action }) => (
        <div key={id} class={isFailure ? "toast failure" : "toast"}>
          <Icon name={isFailure ? "warning" : "check"} />
          <span class="toast-text">
            <Text value={text} />
          </span>
          {action && (
            <Button
              kind="quiet"
              isSmall
              onPress={() => {
                dismiss(id);
                return action.act();
              }}
            >
              {action.label}
            </Button>
          )}
          <Button kind="quiet" isSmall icon="close" label={texts.app.dismiss} onPress={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
