import { signal } from "@preact/signals";
import { askPassword } from "./password-request.js";
import { session } from "./session-state.js";

/** Whether the server could not be reached the last time. */
export const isAway = signal(false);
/** Counts how often the server has come back, so that what failed meanwhile is loaded again. */
export const returns = signal(0);

const lookEveryMs = 2000;
let looking = false;

/** Asks until the server answers. */
async function lookForServer(): Promise<void> {
  if (looking) return;
  looking = true;
  while (isAway.value) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    await lookOnce();
  }
  looking = false;
}

/** Asks whether the server is there again. What stands before one that is not answers with 5xx. */
export async function lookOnce(): Promise<void> {
  const answer = await fetch("/admin/api/session", { cache: "no-store" }).catch(() => null);
  if (answer !== null && answer.status < 500) cameBack();
}

/** The server has been reached. */
function cameBack(): void {
  if (!isAway.value) return;
  isAway.value = false;
  returns.value++;
}

/**
 * `fetch` for every request of the console. It goes with the session's cookie to this origin alone. Where the server asks for
 * the password again, the person is asked and the request is repeated; where it knows no session, the console is signed out;
 * where it is not there, the bar at the top says so.
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
  cameBack();
  // What somebody else would be refused says nothing about this session.
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
