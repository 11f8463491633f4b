import type { ComponentChildren } from "preact";

interface ScreenProps {
  readonly title: string;
  readonly more?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly isFull?: boolean;
  readonly children: ComponentChildren;
}

/** The frame of a screen: its title, its buttons and its content. */
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
