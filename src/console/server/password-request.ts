import { effect, signal } from "@preact/signals";
import { session } from "./session-state.js";

/** The request to give the password again before an action goes on; null if there is none. */
export const passwordRequest = signal<{ readonly answer: (isGiven: boolean) => void } | null>(null);

// Somebody who is signed out meanwhile is asked to sign in, and not for a password that would be of no use.
effect(() => {
  if (session.value === null) passwordRequest.peek()?.answer(false);
});

let asking: Promise<boolean> | null = null;

/** Asks for the password by a dialog. Actions that ask at the same time share one dialog. */
export function askPassword(): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => {
    passwordRequest.value = { answer: resolve };
  }).finally(() => {
    passwordRequest.value = null;
    asking = null;
  });
  return asking;
}
