import type { ComponentChildren } from "preact";

interface BadgeProps {
  readonly kind?: "plain" | "good" | "bad" | "warn" | "accent";
  readonly children: ComponentChildren;
}

/** A small coloured label for a state. */
export function Badge({ kind = "plain", children }: BadgeProps) {
  return <span class={`badge ${kind}`}>{children}</span>;
}
