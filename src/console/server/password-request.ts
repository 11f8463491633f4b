import { signal } from "@preact/signals";

/** Somebody has to give their password before an action goes on; `answer` says whether they did. */
export const passwordRequest = signal<{ readonly answer: (isGiven: boolean) => void } | null>(null);

let asking: Promise<boolean> | null = null;

/** Asks the person for their password. Actions that wait at the same time share one question. */
export function askPassword(): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => {
    passwordRequest.value = { answer: resolve };
  }).finally(() => {
    passwordRequest.value = null;
    asking = null;
  });
  return asking;
}
