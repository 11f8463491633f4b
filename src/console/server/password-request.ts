import { effect, signal } from "@preact/signals";
import { session } from "./session-state.js";

/**
 * The request to the administrator to give their password again before an action goes on; null where there is none.
 * `answer` is called with whether they gave it.
 */
export const passwordRequest = signal<{ readonly answer: (isGiven: boolean) => void } | null>(null);

// Whoever is signed out meanwhile is asked to sign in, and not for a password that would be of no use.
effect(() => {
  if (session.value === null) passwordRequest.peek()?.answer(false);
});

let asking: Promise<boolean> | null = null;

/**
 * Asks the administrator for their password by a dialog, and resolves with whether they gave it. Actions that ask at
 * the same time share one dialog.
 */
export function askPassword(): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => {
    passwordRequest.value = { answer: resolve };
  }).finally(() => {
    passwordRequest.value = null;
    asking = null;
  });
  return asking;
}
