import { toBase64 } from "../../encoding/base64.js";
import { escapeHtml } from "../../encoding/html.js";
import { everyAnswer } from "../../http/respond.js";

/**
 * A page that the server itself offers, such as the one where a mailed link sets a new password. It has no scripts and
 * no images, and loads nothing from elsewhere.
 */
export interface HtmlPage {
  readonly title: string;
  /** The page's content as HTML in which all text is escaped. */
  readonly main: string;
}

const style = `:root{color-scheme:light dark}
body{margin:0;font:16px/1.5 system-ui,sans-serif;color:CanvasText;background:Canvas}
main{box-sizing:border-box;max-width:26rem;margin:10vh auto 0;padding:1.5rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}
label{display:block;margin:1rem 0 .25rem;font-weight:600}
input{box-sizing:border-box;width:100%;padding:.625rem;font:inherit;border:1px solid GrayText;border-radius:.375rem}
button{margin:1.25rem 0 0;padding:.625rem 1.25rem;font:inherit;font-weight:600;color:#fff;background:#1d4ed8;border:0;border-radius:.375rem}
:focus-visible{outline:3px solid #60a5fa;outline-offset:2px}
.hint{margin:.25rem 0 0;font-size:.875rem}
.problem{padding:.75rem;border:2px solid #b91c1c;border-radius:.375rem}`;

let policy: string | undefined;

/**
 * The Content-Security-Policy of the pages that the server itself offers for mailed links: nothing is loaded, only the
 * page's own style applies, forms go to this server only, and no site may frame the page.
 */
async function makePolicy(): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
  const hash = toBase64(new Uint8Array(digest));
  return `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;
}

/**
 * Makes the response with a page that the server itself offers for a mailed link. The page's URL may hold the link's
 * token, so the page must not be cached and no other site may learn its URL.
 */
export async function pageResponse({ title, main }: HtmlPage, status: number): Promise<Response> {
  policy ??= await makePolicy();
  const body = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${main}
</main>
</body>
</html>
`;
  return new Response(body, {
    status,
    headers: {
      ...everyAnswer,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy,
      "Referrer-Policy": "no-referrer",
      "X-Frame-Options": "DENY",
    },
  });
}
