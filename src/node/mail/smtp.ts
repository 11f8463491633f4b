import type { MailTransport } from "../../platform/platform.js";
import { mimeMessage } from "./mime-message.js";

/** Which mail server mails are sent through, and under what conditions a delivery fails. */
export interface SmtpOptions {
  /** The mail server's URL: `smtp://user:password@host:port`, or `smtps://…`. */
  readonly url: string;
  /** Whether a delivery fails where the mail server does not offer STARTTLS (RFC 3207); false by default. */
  readonly requireTLS?: boolean;
  /** Time limit for a whole delivery of a mail, in milliseconds; 30,000 by default. */
  readonly deadlineMs?: number;
}

/**
 * Makes the mail transport of `mail.transport = "smtp"`. Opens a connection per message. A message counts as accepted
 * when the server has replied so to its data (RFC 5321, section 4.1.1.4).
 */
export function smtpMail({ url, requireTLS = false, deadlineMs = 30_000 }: SmtpOptions): MailTransport {
  const timeouts = {
    connectionTimeout: deadlineMs,
    greetingTimeout: deadlineMs,
    socketTimeout: deadlineMs,
    dnsTimeout: deadlineMs,
  };
  return {
    send: async (message) => {
      // The mail library is loaded with the first mail, to keep the server's start short.
      const { createTransport } = await import("nodemailer");
      const transport = createTransport({ url, ...timeouts, requireTLS });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error("the mail server takes too long")), deadlineMs);
      });
      try {
        const sent = transport.sendMail(mimeMessage(message, { eightBit: false }));
        const { accepted } = await Promise.race([sent, late]);
        if (accepted.length === 0) throw new Error("the mail server accepted no recipient");
      } catch (error) {
        throw withoutReply(error);
      } finally {
        clearTimeout(timer);
        transport.close();
      }
    },
  };
}

/**
 * Returns the error of a delivery as it may be logged. An error that is a reply of the mail server is replaced by one
 * with only the reply's status, not its text, which often repeats the recipient's address and can hold line breaks.
 */
function withoutReply(error: unknown): unknown {
  const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string };
  if (responseCode === undefined) return error;
  return new Error(
    `the mail server replied ${responseCode} to ${command ?? "a command"} (${code ?? "no code"})`,
  );
}
