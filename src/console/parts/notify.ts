import { effect, signal } from "@preact/signals";
import { SvcError } from "../../client/index.js";
import { session } from "../server/session-state.js";
import { texts } from "../texts.js";

/** A message in a corner of the page, which `toasts.tsx` shows. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isFailure: boolean;
  readonly action?: { readonly label: string; readonly act: () => unknown };
}

/** The messages that are shown now, the oldest first. */
export const toasts = signal<readonly Toast[]>([]);
let count = 0;
// Messages may name rows, and the next administrator must not be offered their actions.
effect(() => {
  if (session.value === null) toasts.value = [];
});

const shownMs = 8000;
/** What was not done, and why, takes longer to read. */
const failureShownMs = 30_000;

/** Shows a message in a corner of the page for a few seconds. `action` is a button in it, such as to undo something. */
export function notify(text: string, action?: Toast["action"]): void {
  add({ text, isFailure: false, ...(action && { action }) });
}

/** Shows in a corner of the page why something failed, unless it was aborted on purpose. */
export function notifyFailure(error: unknown): void {
  if (error instanceof SvcError && error.code === "aborted") return;
  add({ text: messageOf(error), isFailure: true });
}

/** What people are shown for an error. */
export function messageOf(error: unknown): string {
  if (!(error instanceof SvcError)) return error instanceof Error ? error.message : String(error);
  if (error.code === "network_error" || error.code === "timeout") return texts.app.unreachable;
  if (error.code === "password_needed") return texts.app.passwordNeeded;
  if (error.code === "rate_limited" && error.retryAfterSeconds !== null)
    return `${error.message} ${texts.app.retryAfter(error.retryAfterSeconds)}`;
  return error.message;
}

/** Takes a message away before its time. */
export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

function add(toast: Omit<Toast, "id">): void {
  // A request that began before the administrator signed out may end after it.
  if (session.value === null) return;
  const id = ++count;
  toasts.value = [...toasts.value.slice(-3), { id, ...toast }];
  setTimeout(() => dismiss(id), toast.isFailure ? failureShownMs : shownMs);
}
