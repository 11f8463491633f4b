import type { HeadersRecord } from "../../http/respond.js";

/**
 * The Content-Security-Policy of the console's page: it may load scripts, styles, images and fonts of this server alone
 * and talk to it alone. No other page can frame it, and no text in a row can become a script.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const always = {
  "Content-Security-Policy": policy,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
} as const;

/**
 * The headers of the console's page, which a browser checks for a newer one each time, so that the page is never older
 * than the server.
 */
export const pageHeaders: HeadersRecord = { ...always, "Cache-Control": "no-cache" };

/**
 * The headers of the files that the console's page loads. Their names have a hash of their content, so they never
 * change.
 */
export const assetHeaders: HeadersRecord = {
  ...always,
  "Cache-Control": "public, max-age=31536000, immutable",
};
