import type { MailMessage } from "../../platform/platform.js";

/** What the mail server can handle. */
export interface MimeOptions {
  /** Whether parts with non-ASCII text may be sent unencoded; a mail server need not accept that (RFC 6152). */
  readonly eightBit: boolean;
}

/**
 * Turns a mail into nodemailer's format. A part whose lines are short enough is sent unencoded, so that a link stays
 * whole on its line: nodemailer itself would break lines of more than 76 characters. Without `eightBit`, a part with
 * non-ASCII text is left to nodemailer nevertheless.
 */
export function mimeMessage({ from, to, subject, text, html }: MailMessage, options: MimeOptions) {
  return {
    from,
    // nodemailer would parse a string as a list of addresses.
    to: { name: "", address: to },
    subject,
    alternatives: [part("text/plain", text, options), part("text/html", html, options)],
  };
}

/** The maximum length of a line, in bytes without the line break (RFC 5322, section 2.1.1). */
const lineBytesMax = 998;

function part(type: "text/plain" | "text/html", content: string, { eightBit }: MimeOptions) {
  const lines = content.split(/\r\n|[\r\n]/);
  const encoding = /^[\t\n\r\x20-\x7e]*$/.test(content) ? "7bit" : "8bit";
  const fits = lines.every((line) => Buffer.byteLength(line) <= lineBytesMax);
  if (!fits || (encoding === "8bit" && !eightBit)) return { contentType: `${type}; charset=utf-8`, content };
  const headers = [`Content-Type: ${type}; charset=utf-8`, `Content-Transfer-Encoding: ${encoding}`];
  return { raw: [...headers, "", ...lines].join("\r\n") };
}
