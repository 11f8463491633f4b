import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Icon, type IconName } from "./icon.js";
import { notifyFailure } from "./notify.js";

interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  /** For screen readers and as a tooltip. Needed if the button shows only an icon. */
  readonly label?: string;
  readonly kind?: "plain" | "main" | "danger" | "quiet";
  readonly isSmall?: boolean;
  readonly isDisabled?: boolean;
  readonly isPressed?: boolean;
  readonly isExpanded?: boolean;
  readonly class?: string;
  /**
   * If it returns a promise, the button cannot be pressed again until that is settled. If it fails, a message in a
   * corner of the page says why.
   */
  readonly onPress: (event: MouseEvent) => unknown;
}

/** A button with a text, an icon or both. It is busy, and cannot be pressed, until its action has ended. */
export function Button(props: ButtonProps) {
  const { children, icon, label, kind = "plain", isSmall, isDisabled, isPressed, isExpanded, onPress } = props;
  const [isBusy, setBusy] = useState(false);
  const press = async (event: MouseEvent) => {
    if (isBusy) return;
    try {
      const done = onPress(event);
      if (!(done instanceof Promise)) return;
      setBusy(true);
      await done;
    } catch (error) {
      notifyFailure(error);
    } finally {
      setBusy(false);
    }
  };
  const classes = ["button", kind, isSmall && "small", children === undefined && "square", props.class];
  return (
    <button
      type="button"
      class={classes.filter(Boolean).join(" ")}
      disabled={isDisabled ?? false}
      aria-label={label}
      aria-busy={isBusy || undefined}
      aria-pressed={isPressed}
      aria-expanded={isExpanded}
      title={children === undefined ? label : undefined}
      onClick={press}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
