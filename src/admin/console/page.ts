import type { Context } from "hono";
import { byMethod } from "../../http/by-method.js";
import { Refusal } from "../../http/refusal.js";
import { everyAnswer, type HeadersRecord } from "../../http/respond.js";
import { router } from "../../http/router.js";
import type { ConsoleFiles, ContentCoding } from "../../platform/console-files.js";
import { assetHeaders, pageHeaders } from "./headers.js";

/**
 * Makes the routes under /console: the console's page and the files that it loads. Everybody may load them, because
 * they hold no data of the project. `files` is null where the runtime serves them without these routes.
 */
export function consolePage(files: ConsoleFiles | null) {
  const routes = router();
  const sent = async (c: Context, path: string, headers: HeadersRecord): Promise<Response | null> => {
    const file = (await files?.read(path, acceptedCodings(c.req.raw))) ?? null;
    if (file === null) return null;
    const coding = file.coding === null ? {} : { "Content-Encoding": file.coding };
    const type = contentTypes[extensionOf(path)]!;
    const own = { ...headers, ...coding, "Content-Type": type, Vary: "Accept-Encoding" };
    return new Response(file.bytes, { headers: own });
  };
  routes.all(
    "/",
    byMethod({ GET: async (c) => (await sent(c, "index.html", pageHeaders)) ?? notBuilt.toResponse() }),
  );
  routes.all(
    "/assets/:name",
    byMethod({
      GET: async (c) => {
        const name = c.req.param("name") ?? "";
        const answer = isAssetName(name) ? await sent(c, `assets/${name}`, assetHeaders) : null;
        return answer ?? noSuchFile.toResponse();
      },
    }),
  );
  return routes;
}

/**
 * Answers `/console/` with a redirect to `/console`, the path of the console's page: from `/console/`, a relative link
 * of the page would lead elsewhere.
 */
export const toPage = byMethod({
  GET: () => new Response(null, { status: 307, headers: { ...everyAnswer, Location: "/console" } }),
});

/**
 * Whether the text has the form in which the build names the files of the console, `<name>-<hash>.js` or `.css`. Such a
 * name has no slash, so it cannot lead out of the directory of these files.
 */
export function isAssetName(name: string): boolean {
  return /^[\w.-]+-[\w-]+\.(js|css)$/.test(name);
}

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

const extensionOf = (path: string): string => path.slice(path.lastIndexOf(".") + 1);

/**
 * Which of the content codings (compressions) `br` and `gzip` the client accepts by its header `Accept-Encoding` (RFC
 * 9110, section 12.5.3). Brotli comes first, because it makes files smaller. A coding with a weight of 0 is not
 * accepted.
 */
function acceptedCodings(request: Request): readonly ContentCoding[] {
  const accepted = (request.headers.get("Accept-Encoding") ?? "")
    .split(",")
    .map((part) => part.trim().toLowerCase())
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map((part) => part.replace(/\s*;.*$/, ""));
  return (["br", "gzip"] as const).filter((coding) => accepted.includes(coding));
}

const notBuilt = new Refusal("not_found", "the console's page was not built: npm run build makes it");
const noSuchFile = new Refusal("not_found", "no such file of the console");
