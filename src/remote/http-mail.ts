import type { MailTransport } from "../platform/platform.js";

export interface HttpMailOptions {
  readonly url: string;
  /** Sent as `Authorization: Bearer`. */
  readonly token: string;
  readonly fetch: typeof globalThis.fetch;
  /** For the whole of a delivery. */
  readonly deadlineMs?: number;
}

/**
 * `mail.transport = "http"`: POST `{from, to, subject, text, html}` as JSON. A message is accepted with any 2xx; a
 * redirect is none, as the token is for this address alone.
 */
export function httpMail({ url, token, fetch: send, deadlineMs = 30_000 }: HttpMailOptions): MailTransport {
  return {
    send: async ({ from, to, subject, text, html }) => {
      const response = await send(url, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ from, to, subject, text, html }),
        redirect: "manual",
        signal: AbortSignal.timeout(deadlineMs),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`the mail service answered ${response.status}`);
    },
  };
}
