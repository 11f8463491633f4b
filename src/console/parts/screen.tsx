import type { ComponentChildren } from "preact";

interface ScreenProps {
  readonly title: string;
  readonly more?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly isFull?: boolean;
  readonly children: ComponentChildren;
}

/** A screen: its title, what can be done on it as a whole, and what it shows. */
export function Screen({ title, more, actions, isFull = false, children }: ScreenProps) {
  return (
    <main class={isFull ? "screen full" : "screen"} id="main" tabIndex={isFull ? -1 : 0}>
      <header class="screen-head">
        <h1>{title}</h1>
        {more}
        <div class="screen-actions">{actions}</div>
      </header>
      {children}
    </main>
  );
}
