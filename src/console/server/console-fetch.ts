import { signal } from "@preact/signals";
import { askPassword } from "./password-request.js";
import { session } from "./session-state.js";

/** Whether the last request could not reach the server. */
export const isAway = signal(false);
/** How often the server could be reached again. What has failed meanwhile is loaded again when it changes. */
export const returns = signal(0);

const lookEveryMs = 2000;
let looking = false;

/** While the server cannot be reached, asks every two seconds whether it can. */
async function lookForServer(): Promise<void> {
  if (looking) return;
  looking = true;
  while (isAway.value) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    await lookOnce();
  }
  looking = false;
}

/** Asks once whether the server can be reached again. */
export async function lookOnce(): Promise<void> {
  const answer = await fetch("/admin/api/session", { cache: "no-store" }).catch(() => null);
  if (answer !== null) noteAnswer(answer);
}

/** Notes that the server can be reached. A status of 5xx does not count: a proxy gives it if the server is down. */
function noteAnswer({ status }: Response): void {
  if (!isAway.value || status >= 500) return;
  isAway.value = false;
  returns.value++;
}

/**
 * The `fetch` of all requests of the console. It sends the session's cookie, and only to the console's own origin. If
 * the server demands the password again (403 `password_needed`), it asks for it and repeats the request. After a 401
 * the console shows the form for signing in. If the server cannot be reached, a bar at the top says so.
 */
export const consoleFetch: typeof fetch = async (input, init = {}) => {
  const own: RequestInit = { ...init, credentials: "same-origin", mode: "same-origin", redirect: "error" };
  let response: Response;
  try {
    response = await fetch(input, own);
  } catch (error) {
    if (!init.signal?.aborted) {
      isAway.value = true;
      void lookForServer();
    }
    throw error;
  }
  noteAnswer(response);
  // An answer with the header `Svc-As` is another caller's. Its 401 says nothing about the administrator's session.
  const isOwn = !response.headers.has("Svc-As");
  if (response.status === 401 && isOwn && session.value) session.value = null;
  if (response.status !== 403 || !(await asksPassword(response.clone()))) return response;
  return (await askPassword()) ? consoleFetch(input, init) : response;
};

async function asksPassword(response: Response): Promise<boolean> {
  const body: unknown = await response.json().catch(() => null);
  const { error } = (body ?? {}) as { readonly error?: { readonly code?: unknown } };
  return error?.code === "password_needed";
}
