import type { MailTransport } from "../platform/platform.js";

/** The URL and the token of the mail service to which mails are posted, and how to send requests to it. */
export interface HttpMailOptions {
  readonly url: string;
  /** The service's token, sent in the header `Authorization: Bearer`. */
  readonly token: string;
  readonly fetch: typeof globalThis.fetch;
  /** Time limit for the delivery of one mail, in milliseconds; 30,000 by default. */
  readonly deadlineMs?: number;
}

/**
 * The mail transport for `mail.transport = "http"`: it POSTs `{from, to, subject, text, html}` as JSON. Any 2xx means
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
