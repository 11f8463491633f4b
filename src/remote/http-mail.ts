import type { MailTransport } from "../platform/platform.js";

/** The mail service to which mails are posted. */
export interface HttpMailOptions {
  readonly url: string;
  /** Sent in the header `Authorization: Bearer`. */
  readonly token: string;
  readonly fetch: typeof globalThis.fetch;
  /** For the delivery of one mail; 30,000 by default. */
  readonly deadlineMs?: number;
}

/**
 * The transport for `mail.transport = "http"`: it POSTs `{from, to, subject, text, html}` as JSON. Any 2xx means
 * accepted. A redirect is a failure, because the token must not be sent to another address.
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
