import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { getMimeType } from "hono/utils/mime";
import { parseByteRange } from "../http/byte-range.js";
import { Refusal } from "../http/refusal.js";
import { isWithin } from "./within.js";

/** Answers a request with a file of the owner's site; null if there is none. */
export type SiteFiles = (request: Request) => Promise<Response | null>;

/** A file that is open for reading. */
interface OpenFile {
  readonly handle: FileHandle;
  readonly size: number;
  readonly etag: string;
  readonly type: string;
}

const methods: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Serves the regular files of a directory (`docs/deploy.md#your-pages`): those whose real path is inside of it, and no
 * file or folder whose name begins with a dot, but `.well-known`. A folder is answered by its `index.html`.
 * @param fallback the file for the navigation of browsers to any other path, relative to the directory; empty for none
 */
export function siteFiles(directory: string, fallback: string): SiteFiles {
  return async (request) => {
    if (!methods.has(request.method)) return null;
    const path = pathOf(request);
    const found = path === null ? null : await fileAt(directory, path);
    if (found !== null) return answer(request, found);
    const instead = fallback !== "" && isNavigation(request) ? await fileAt(directory, fallback) : null;
    return instead && answer(request, instead);
  };
}

/** The path of a request, decoded, without a slash at the beginning. Null for one that names no file here. */
function pathOf({ url }: Request): string | null {
  let path: string;
  try {
    path = decodeURIComponent(new URL(url).pathname);
  } catch {
    return null;
  }
  if (/[\\\0]/.test(path)) return null;
  const names = path.split("/").slice(1);
  return names.some((name, i) => isHidden(name, i)) ? null : names.join("/");
}

/** Whether a name in a path, at a depth from 0, is not to be served. */
function isHidden(name: string, depth: number): boolean {
  return name.startsWith(".") && !(depth === 0 && name === ".well-known");
}

/** Opens the regular file at a path below `directory`, or the `index.html` of the folder there. */
async function fileAt(directory: string, path: string): Promise<OpenFile | null> {
  const wanted = path === "" || path.endsWith("/") ? `${path}index.html` : path;
  try {
    // Each time: a deployment may let a symbolic link lead to another directory.
    const root = await realpath(directory);
    const real = await realpath(join(root, wanted));
    if (!isWithin(root, real) || relative(root, real).split(sep).some(isHidden)) return null;
    // A device or a pipe must not be waited for.
    const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await handle.stat({ bigint: true });
    if (!stat.isFile()) {
      await handle.close();
      return null;
    }
    const etag = `"${stat.size.toString(16)}-${stat.mtimeNs.toString(16)}"`;
    return { handle, size: Number(stat.size), etag, type: getMimeType(real) ?? "application/octet-stream" };
  } catch {
    return null;
  }
}

function isNavigation({ headers }: Request): boolean {
  return headers.get("Sec-Fetch-Mode") === "navigate" || /\btext\/html\b/.test(headers.get("Accept") ?? "");
}

/** With conditions by ETag (RFC 9110, section 13) and a range of bytes (section 14). */
async function answer({ method, headers }: Request, { handle, size, etag, type }: OpenFile): Promise<Response> {
  const common = {
    ETag: etag,
    "Cache-Control": "no-cache",
    "Accept-Ranges": "bytes",
    "X-Content-Type-Options": "nosniff",
  };
  if (matches(headers.get("If-None-Match"), etag)) {
    await handle.close();
    return new Response(null, { status: 304, headers: common });
  }
  const condition = headers.get("If-Range");
  const asked = condition === null || condition === etag ? headers.get("Range") : null;
  const range = parseByteRange(asked, size);
  if (range === "unsatisfiable") {
    await handle.close();
    return tooFar(size).toResponse();
  }
  const { first, last } = range ?? { first: 0, last: size - 1 };
  const described = {
    ...common,
    "Content-Type": type,
    "Content-Length": String(last - first + 1),
    ...(range !== null && { "Content-Range": `bytes ${first}-${last}/${size}` }),
  };
  const status = range === null ? 200 : 206;
  if (method === "HEAD" || size === 0) {
    await handle.close();
    return new Response(method === "HEAD" ? null : "", { status, headers: described });
  }
  // The stream closes the file, also when the client goes away.
  const stream = Readable.toWeb(handle.createReadStream({ start: first, end: last })) as ReadableStream<Uint8Array>;
  return new Response(stream, { status, headers: described });
}

/** Whether a header `If-None-Match` names the tag. */
function matches(header: string | null, etag: string): boolean {
  if (header === null) return false;
  const tags = header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}

const tooFar = (size: number) =>
  new Refusal("bad_request", "the range begins past the end", {
    status: 416,
    headers: { "Content-Range": `bytes */${size}` },
  });
