import { resolve } from "node:path";
import type { Config } from "../project/config.js";
import { ProblemsError } from "../project/problem.js";

/**
 * The embedded database of a project in `directory`, as `openProjectDatabase` opens it; null where `database.url` names
 * a server. Throws ProblemsError where it names no file that can be.
 */
export function databaseFile({ database: { url } }: Config, directory: string): string | null {
  if (!url.startsWith("file:")) return null;
  const path = decoded(url.slice("file:".length));
  if (path !== null && !path.includes("\0")) return resolve(directory, path);
  const message = `what it has after % makes no path: ${url}`;
  throw new ProblemsError([{ file: "svc.toml", path: "database.url", message }]);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
