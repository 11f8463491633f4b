import type { AuthSettings } from "../project/model.js";
import type { LinkPurpose } from "./links.js";

/** The server's own pages, for links whose page is not configured. */
export const hostedPages = {
  email_verification: "verify-email",
  invitation: "accept-invitation",
  password_reset: "reset-password",
} as const satisfies Record<LinkPurpose, string>;

export interface LinkTarget {
  readonly purpose: LinkPurpose;
  readonly token: string;
  /** Where an invitation leads in the end; the page is told of it. */
  readonly redirectTo: string | null;
}

/** The address in a mail: the project's page, or else one of the server's own under `publicBaseUrl`. */
export function linkUrl(
  settings: AuthSettings,
  publicBaseUrl: string,
  { purpose, token, redirectTo }: LinkTarget,
): string {
  const page = configuredPage(settings, purpose) || `${publicBaseUrl}/auth/pages/${hostedPages[purpose]}`;
  return withParameters(page, { token, ...(redirectTo === null ? {} : { redirect_to: redirectTo }) });
}

/** Empty where none is configured. */
function configuredPage(settings: AuthSettings, purpose: LinkPurpose): string {
  switch (purpose) {
    case "email_verification":
      return settings.emailVerification.url;
    case "invitation":
      return settings.invitationUrl;
    case "password_reset":
      return settings.passwordResetUrl;
  }
}

/**
 * Where people go on to from a page of the server's own: the first web origin that the project's files name, the
 * application's pages before other ones. Null where they name none.
 */
export function applicationUrl(
  settings: AuthSettings & { readonly origins: readonly string[] },
  allowedOrigins: readonly string[],
): string | null {
  const { invitationUrl, emailVerification, passwordResetUrl, redirectUrls, origins } = settings;
  const pages = [invitationUrl, emailVerification.url, passwordResetUrl, ...redirectUrls];
  const web = [...pages, ...origins, ...allowedOrigins].find((url) => /^https?:/i.test(url));
  return web === undefined ? null : `${new URL(web).origin}/`;
}

/** Appends to what is there, in front of a fragment. */
function withParameters(url: string, parameters: Readonly<Record<string, string>>): string {
  const [, address, fragment] = /^([^#]*)(#.*)?$/s.exec(url)!;
  const separator = address!.includes("?") ? "&" : "?";
  return `${address}${separator}${new URLSearchParams(parameters)}${fragment ?? ""}`;
}

/**
 * Whether an invitation may lead there: to an absolute HTTPS URL on the origin of `$auth.invitation_url` or on one of
 * `$origins`. It is written as a browser would write it, so that no reader of it, however lenient, finds another host.
 */
export function isAllowedDestination(
  text: string,
  { invitationUrl, origins }: { readonly invitationUrl: string; readonly origins: readonly string[] },
): boolean {
  if (!/^https:\/\/[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return false;
  const { href, origin } = new URL(text);
  const allowed = [invitationUrl, ...origins].filter((url) => url !== "").map((url) => new URL(url).origin);
  if (!allowed.includes(origin)) return false;
  return text === origin || (text === href && text.startsWith(`${origin}/`));
}
