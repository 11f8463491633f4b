import { isLoopbackHost } from "../http/loopback.js";

/** What is wrong with the value of `database.url`; null for the path of a file and for the URL of a libSQL server. */
export function databaseUrlProblem(url: string): string | null {
  if (/^http:\/\/./.test(url)) return plainHttpProblem(url);
  if (/^(libsql|https):\/\/./.test(url)) return null;
  if (!/^file:./.test(url)) return "expected file:…, libsql://…, https://… or http://…";
  const path = decoded(url.slice("file:".length));
  if (path === null) return "what it has after % makes no path; a % is written %25";
  // SQLite itself opens a database in memory for a path or URL of these forms: https://www.sqlite.org/uri.html
  if (/^:memory:/.test(path) || /[?&](mode=memory|vfs=memdb)\b/.test(url))
    return "a database in memory ends with the process: name a file, such as file:.svc/data.db";
  if (/[?#]/.test(url))
    return "a file's URL has no parameters and no fragment: within a name, ? is written %3f, and # %23";
  return /^file:\/\/[^/]/.test(url)
    ? "a file's URL has no host: expected file:relative/path or file:///absolute/path"
    : null;
}

/**
 * Why a URL that begins with `http:` is refused; null for a loopback address. On a network, others could read the token
 * and all rows, because nothing is encrypted.
 */
function plainHttpProblem(url: string): string | null {
  return URL.canParse(url) && isLoopbackHost(new URL(url).hostname)
    ? null
    : "http:// is for loopback addresses alone, because nothing is encrypted: expected libsql://… or https://…";
}

function decoded(text: string): string | null {
  try {
    const path = decodeURIComponent(text);
    return path.includes("\0") ? null : path;
  } catch {
    return null;
  }
}
