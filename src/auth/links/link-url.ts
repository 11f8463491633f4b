import { isLoopbackHost } from "../../http/loopback.js";
import type { AuthSettings } from "../../project/model.js";
import type { LinkPurpose } from "../store/links.js";

/**
 * The last part of the path of each page that the server itself offers for mailed links. They are used for links for
 * which `$auth` of the schema names no page of the application.
 */
export const hostedPages = {
  email_verification: "verify-email",
  invitation: "accept-invitation",
  password_reset: "reset-password",
  email_change: "change-email",
} as const satisfies Record<LinkPurpose, string>;

/** A link to put into a mail. */
export interface LinkTarget {
  readonly purpose: LinkPurpose;
  readonly token: string;
  /**
   * The URL that the user is led to once the invitation is accepted; null for other links. The link passes it on as the
   * parameter `redirect_to`.
   */
  readonly redirectTo: string | null;
}

/**
 * The URL of a link in a mail. It leads to the page that `$auth` of the schema names for this purpose, or where there
 * is none, to the server's own page under `publicBaseUrl`.
 */
export function linkUrl(
  settings: AuthSettings,
  publicBaseUrl: string,
  { purpose, token, redirectTo }: LinkTarget,
): string {
  const page = configuredPage(settings, purpose) || `${publicBaseUrl}/auth/pages/${hostedPages[purpose]}`;
  return withParameters(page, { token, ...(redirectTo === null ? {} : { redirect_to: redirectTo }) });
}

/** The page that `$auth` of the schema names for links of a purpose; empty where it names none. */
function configuredPage(settings: AuthSettings, purpose: LinkPurpose): string {
  switch (purpose) {
    case "email_verification":
      return settings.emailVerification.url;
    case "invitation":
      return settings.invitationUrl;
    case "password_reset":
      return settings.passwordResetUrl;
    case "email_change":
      return settings.emailChangeUrl;
  }
}

/**
 * The start page of the application, at which the server's own pages offer to continue: the origin of the first web URL
 * among the pages that `$auth` names, `$origins` and `cors.allowed_origins`, in this order. Null where there is none.
 */
export function applicationUrl(
  settings: AuthSettings & { readonly origins: readonly string[] },
  allowedOrigins: readonly string[],
): string | null {
  const { invitationUrl, emailVerification, passwordResetUrl, emailChangeUrl, redirectUrls, origins } = settings;
  const pages = [invitationUrl, emailVerification.url, passwordResetUrl, emailChangeUrl, ...redirectUrls];
  const web = [...pages, ...origins, ...allowedOrigins].find((url) => /^https?:/i.test(url));
  return web === undefined ? null : `${new URL(web).origin}/`;
}

/** Appends parameters to the query of a URL, in front of its fragment. */
function withParameters(url: string, parameters: Readonly<Record<string, string>>): string {
  const [, address, fragment] = /^([^#]*)(#.*)?$/s.exec(url)!;
  const separator = address!.includes("?") ? "&" : "?";
  return `${address}${separator}${new URLSearchParams(parameters)}${fragment ?? ""}`;
}

/**
 * Whether `redirect_to` of an invitation is allowed: an absolute HTTPS URL on the origin of `$auth.invitation_url` or
 * one of `$origins`. If the server itself is reached at a loopback address, it may also be HTTP on such an address. It
 * has to be written in its normal form, so that no lenient parser finds another host in it.
 */
export function isAllowedDestination(
  text: string,
  { invitationUrl, origins }: { readonly invitationUrl: string; readonly origins: readonly string[] },
  publicBaseUrl: string,
): boolean {
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return false;
  const { href, origin, protocol, hostname } = new URL(text);
  const isLocal = isLoopbackHost(hostname) && isLoopbackHost(new URL(publicBaseUrl).hostname);
  if (protocol === "http:" && !isLocal) return false;
  const allowed = [invitationUrl, ...origins].filter((url) => url !== "").map((url) => new URL(url).origin);
  if (!allowed.includes(origin)) return false;
  return text === origin || (text === href && text.startsWith(`${origin}/`));
}
