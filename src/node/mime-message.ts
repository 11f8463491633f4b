import type { MailMessage } from "../platform/platform.js";

export interface MimeOptions {
  /** Whether a part outside of ASCII may stand as it is; a mail server need not take one (RFC 6152). */
  readonly eightBit: boolean;
}

/**
 * A message as nodemailer takes it. A part whose lines are short enough stands as it is, so that a link is whole on one line;
 * nodemailer by itself would break it where it is over 76 characters long.
 */
export function mimeMessage({ from, to, subject, text, html }: MailMessage, options: MimeOptions) {
  return {
    from,
    // As it stands: nodemailer would read a list of addresses out of a text.
    to: { name: "", address: to },
    subject,
    alternatives: [part("text/plain", text, options), part("text/html", html, options)],
  };
}

/** RFC 5322, section 2.1.1, without the line's end. */
const lineBytesMax = 998;

function part(type: "text/plain" | "text/html", content: string, { eightBit }: MimeOptions) {
  const lines = content.split(/\r\n|[\r\n]/);
  const encoding = /^[\t\n\r\x20-\x7e]*$/.test(content) ? "7bit" : "8bit";
  const fits = lines.every((line) => Buffer.byteLength(line) <= lineBytesMax);
  if (!fits || (encoding === "8bit" && !eightBit)) return { contentType: `${type}; charset=utf-8`, content };
  const headers = [`Content-Type: ${type}; charset=utf-8`, `Content-Transfer-Encoding: ${encoding}`];
  return { raw: [...headers, "", ...lines].join("\r\n") };
}
