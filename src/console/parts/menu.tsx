import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button.js";
import type { IconName } from "./icon.js";

interface MenuProps {
  readonly text?: string;
  readonly icon?: IconName;
  readonly label?: string;
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button that opens a small panel below it. A click elsewhere, leaving it with the focus, or Escape closes it. */
export function Menu({ text, icon, label, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const leave = (event: Event) => !root.current?.contains(event.target as Node) && setOpen(false);
    document.addEventListener("pointerdown", leave);
    document.addEventListener("focusin", leave);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("focusin", leave);
    };
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isOpen) return;
    event.stopPropagation();
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  return (
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <Button {...(icon && { icon })} {...(label && { label })} isExpanded={isOpen} onPress={() => setOpen(!isOpen)}>
        {text}
      </Button>
      {isOpen && <div class="menu-panel">{children(() => setOpen(false))}</div>}
    </div>
  );
}
