import type { MailTransport } from "../../platform/platform.js";
import { mimeMessage } from "./mime-message.js";

/** The mail server, and when a delivery fails. */
export interface SmtpOptions {
  /** `smtp://user:password@host:port`, or `smtps://…`. */
  readonly url: string;
  /** Whether a delivery fails if the mail server does not offer STARTTLS (RFC 3207); false by default. */
  readonly requireTLS?: boolean;
  /** For a whole delivery of a mail, in milliseconds; 30,000 by default. */
  readonly deadlineMs?: number;
}

/**
 * The transport of `mail.transport = "smtp"`, with a connection per message. A message counts as accepted when the
 * server has replied so to its data (RFC 5321, section 4.1.1.4).
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
      // Loaded with the first mail, to keep the server's start short.
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
 * The error as it may be logged: of a reply of the mail server only the status, not the text, which often repeats the
 * recipient's address and can hold line breaks.
 */
function withoutReply(error: unknown): unknown {
  const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string };
  if (responseCode === undefined) return error;
  return new Error(`the mail server replied ${responseCode} to ${command ?? "a command"} (${code ?? "no code"})`);
}
