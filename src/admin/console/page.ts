import { Refusal } from "../../http/refusal.js";
import { everyAnswer, type HeadersRecord } from "../../http/respond.js";
import type { ContentCoding } from "../../platform/console-files.js";
import { text } from "../../wire/schema.js";
import type { ConsoleEndpoint, PageRequest } from "./endpoint.js";
import { assetHeaders, pageHeaders } from "./headers.js";

/**
 * GET /console: the console's page. Everybody may load it and the files that it loads, because they hold no data of the
 * project.
 */
export const showConsoleEndpoint: ConsoleEndpoint = {
  method: "GET",
  path: "/console",
  summary: "The console's page",
  answers: { 200: "text/html" },
  errors: [403, 404, 500, 503],
  needs: "nothing",
  handle: async (given) => (await sent(given, "index.html", pageHeaders)) ?? notBuilt,
};

/**
 * GET /console/: redirects to `/console`, the path of the console's page. From `/console/`, a relative link of the page
 * would lead elsewhere.
 */
export const toConsoleEndpoint: ConsoleEndpoint = {
  method: "GET",
  path: "/console/",
  id: "get_console_slash",
  summary: "Leads to the console's page",
  answers: { 307: null },
  errors: [403, 500, 503],
  needs: "nothing",
  handle: async () => new Response(null, { status: 307, headers: { ...everyAnswer, Location: "/console" } }),
};

/** GET /console/assets/{name}: a file that the console's page loads. */
export const showAssetEndpoint: ConsoleEndpoint = {
  method: "GET",
  path: "/console/assets/{name}",
  summary: "What the page loads",
  parameters: [{ name: "name", in: "path", required: true, schema: text }],
  answers: { 200: ["text/javascript", "text/css"] },
  errors: [403, 404, 500, 503],
  needs: "nothing",
  handle: async (given) => {
    const { name } = given;
    const answer = isAssetName(name) ? await sent(given, `assets/${name}`, assetHeaders) : null;
    return answer ?? noSuchFile;
  },
};

async function sent({ request, files }: PageRequest, path: string, headers: HeadersRecord): Promise<Response | null> {
  const file = (await files?.read(path, acceptedCodings(request))) ?? null;
  if (file === null) return null;
  const coding = file.coding === null ? {} : { "Content-Encoding": file.coding };
  const type = contentTypes[extensionOf(path)]!;
  const own = { ...headers, ...coding, "Content-Type": type, Vary: "Accept-Encoding" };
  return new Response(file.bytes, { headers: own });
}

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
