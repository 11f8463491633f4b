import type { ComponentChildren } from "preact";
import { texts } from "../texts.js";
import { Logo } from "./logo.js";

/** The page before signing in: a card with the console's name and the form. */
export function Door({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <main class="door">
      <div class="door-card">
        <div class="door-brand">
          <Logo />
          <span>{texts.app.name}</span>
        </div>
        <h1>{title}</h1>
        <p class="hint">{location.host}</p>
        {children}
      </div>
    </main>
  );
}
