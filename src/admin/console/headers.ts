import type { HeadersRecord } from "../../http/respond.js";

/**
 * The Content-Security-Policy of the console's page. The page may load scripts, styles and fonts from this server
 * alone, images from there or from `data:` URLs, and may send requests to this server alone. No other page can frame
 * it, and no text of a row that the page shows can run as a script.
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
 * The headers of the console's page. With `no-cache`, a browser asks for a newer page each time, so that the page is
 * never older than the server.
 */
export const pageHeaders: HeadersRecord = { ...always, "Cache-Control": "no-cache" };

/**
 * The headers of the files that the console's page loads. A browser may keep them for a year without asking again: the
 * name of a file has a hash of its content, so the content under a name never changes.
 */
export const assetHeaders: HeadersRecord = {
  ...always,
  "Cache-Control": "public, max-age=31536000, immutable",
};
