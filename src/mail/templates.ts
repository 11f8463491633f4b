import type { MailKind } from "../auth/store/outbox.js";
import { escapeHtml } from "../encoding/html.js";
import type { MailMessage } from "../platform/platform.js";

/** What differs between mails of a kind, such as two invitations. */
export interface MailContent {
  readonly kind: MailKind;
  /** `mail.from` of svc.toml. The text calls the sender by its display name, or else by its domain. */
  readonly from: string;
  readonly to: string;
  /** The URL of the mail's only button; null for a mail without a button. */
  readonly actionUrl: string | null;
  /** When the mail's link expires, in milliseconds since the epoch; null if it does not expire. */
  readonly expiresAtMs: number | null;
}

/** The words that all mails of a kind have in common, as plain text and as HTML. */
interface MailWording {
  readonly subject: string;
  /** The paragraphs above the button; lines in plain text. */
  readonly before: readonly string[];
  /** The label of the button. */
  readonly action: string;
  /** The paragraphs below the button. */
  readonly after: readonly string[];
}

/**
 * Renders a mail as plain text and as HTML, with the same words in both. The same content always gives the same result.
 */
export function renderMail(content: MailContent): MailMessage {
  const wording = wordings[content.kind](senderName(content.from));
  const note = content.expiresAtMs === null || content.actionUrl === null ? [] : [expiry(content.expiresAtMs)];
  const set = { ...wording, after: [...note, ...wording.after] };
  return {
    from: content.from,
    to: content.to,
    subject: oneLine(wording.subject),
    text: asText(set, content.actionUrl),
    html: asHtml(set, content.actionUrl),
    link: content.actionUrl,
  };
}

const wordings: Readonly<Record<MailKind, (sender: string) => MailWording>> = {
  email_verification: (sender) => ({
    subject: `Confirm your address for ${sender}`,
    before: [`This address was used to sign up for ${sender}.`, "If that was you, confirm that it is yours:"],
    action: "Confirm the address",
    after: ["If it was not you, leave the link alone: without it nobody can use your address."],
  }),
  invitation: (sender) => ({
    subject: `You are invited to ${sender}`,
    before: [`You have been invited to ${sender}.`],
    action: "Accept the invitation",
    after: ["If you did not expect this, you can ignore it."],
  }),
  password_reset: (sender) => ({
    subject: `Set a new password for ${sender}`,
    before: [`Somebody asked for a new password for your account with ${sender}.`, "If that was you, set one:"],
    action: "Set a new password",
    after: [
      "You will then be signed out everywhere.",
      "If it was not you, you can ignore this: your password stays as it is.",
    ],
  }),
  registration_attempt: (sender) => ({
    subject: `You already have an account with ${sender}`,
    before: [
      `Somebody tried to sign up for ${sender} with this address, which has an account already.`,
      "Nothing has changed.",
      "If that was you, sign in instead; if you have forgotten the password, ask for a new one there.",
    ],
    action: "Sign in",
    after: ["If it was not you, you can ignore this."],
  }),
  email_change: (sender) => ({
    subject: `Confirm your new address for ${sender}`,
    before: [
      `Somebody gave this address as the new one of their account with ${sender}.`,
      "If that was you, confirm it:",
    ],
    action: "Use this address",
    after: [
      "You will then be signed out on your other devices.",
      "If it was not you, leave the link alone: without it nobody can use your address.",
    ],
  }),
  email_change_attempt: (sender) => ({
    subject: `You already have an account with ${sender}`,
    before: [
      `Somebody wanted to move another account with ${sender} to this address, which has an account already.`,
      "Nothing has changed.",
      "If that was you, sign in with this address; once the account is deleted, another one can have the address.",
    ],
    action: "Sign in",
    after: ["If it was not you, you can ignore this."],
  }),
  email_change_notice: (sender) => ({
    subject: `Your account with ${sender} is about to have another address`,
    before: [
      `Somebody who is signed in to your account with ${sender} asked to change its address.`,
      "It stays as it is until a link in a mail to the new address is opened.",
    ],
    action: "Open the account",
    after: [
      "If it was not you, change your password now, or ask for a new one where you sign in.",
      "That undoes it, and signs everybody out.",
    ],
  }),
  email_changed: (sender) => ({
    subject: `Your account with ${sender} has another address`,
    before: [
      `The address of your account with ${sender} was changed, and was this one until now.`,
      "Sign in with the new address from now on. Mails go there, too.",
    ],
    action: "Open the account",
    after: [
      `If it was not you, somebody else has your account: write to whoever runs ${sender} at once.`,
      "With this address nobody can sign in to it or set a new password any more.",
    ],
  }),
};

function expiry(ms: number): string {
  const [date, time] = new Date(ms).toISOString().split("T") as [string, string];
  return `The link works once, until ${date} ${time.slice(0, 5)} UTC.`;
}

/** The display name of a mail address (RFC 5322, section 3.4), or else its domain. */
function senderName(from: string): string {
  const [, name] = /^\s*"?([^"<]*?)"?\s*</.exec(from) ?? [];
  const address = from.replace(/^.*<|>.*$/g, "");
  return oneLine(name || address.slice(address.lastIndexOf("@") + 1));
}

/** A header field must not hold line breaks (RFC 5322, section 2.2): control characters become spaces. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ").trim();
}

function asText({ before, action, after }: MailWording, actionUrl: string | null): string {
  const link = actionUrl === null ? [] : [`${action}:\n${actionUrl}`];
  return `${[before.join("\n"), ...link, after.join("\n")].join("\n\n")}\n`;
}

const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const bodyStyle = `margin:0;padding:24px 12px;background:#f4f4f5;${font};font-size:16px;line-height:24px;color:#18181b`;
const cellStyle = "padding:32px;background:#ffffff;border:1px solid #e4e4e7;border-radius:8px;text-align:left";
const buttonStyle =
  "display:inline-block;padding:12px 24px;background:#1d4ed8;border-radius:6px;color:#ffffff;font-weight:bold;text-decoration:none";

/** Uses tables and inline styles, because all mail clients support these, and loads no images, fonts or scripts. */
function asHtml({ subject, before, action, after }: MailWording, actionUrl: string | null): string {
  const paragraph = (text: string) => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`;
  const link =
    actionUrl === null
      ? ""
      : `<p style="margin:24px 0"><a href="${escapeHtml(actionUrl)}" style="${buttonStyle}">${escapeHtml(action)}</a></p>
<p style="margin:0 0 16px;font-size:14px;color:#52525b">Or open this address:<br><a href="${escapeHtml(actionUrl)}" style="color:#1d4ed8;word-break:break-all">${escapeHtml(actionUrl)}</a></p>
`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(subject)}</title>
</head>
<body style="${bodyStyle}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td align="center">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px"><tr><td style="${cellStyle}">
${before.map(paragraph).join("\n")}
${link}${after.map(paragraph).join("\n")}
</td></tr></table>
</td></tr></table>
</body>
</html>
`;
}
