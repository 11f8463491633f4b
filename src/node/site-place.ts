import { existsSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { configFile, schemaFile } from "../project/file-names.js";
import { databaseFile } from "./database/database-file.js";
import type { ProjectDirectory } from "./project-directory.js";
import { isWithin } from "./within.js";

/**
 * Why the directory of `server.serve_dir` cannot be served, by its real path: it is not there, or it would make files of
 * the project or of the server public. Null if it can.
 */
export function sitePlaceProblem({ config, directory }: ProjectDirectory): string | null {
  const { serve_dir } = config.server;
  const path = resolve(directory, serve_dir);
  if (!existsSync(path) || !statSync(path).isDirectory()) return `${serve_dir} is not a directory`;
  const root = realpathSync(path);
  const database = databaseFile(config, directory);
  const kept = [
    [join(directory, configFile), configFile],
    [join(directory, schemaFile), schemaFile],
    [join(directory, ".svc"), ".svc"],
    [resolve(directory, config.usage.journal_dir), "usage.journal_dir"],
    [resolve(directory, config.mail.log_dir), "mail.log_dir"],
    ...(database === null ? [] : [[database, "the database"] as const]),
  ] as const;
  for (const [place, name] of kept) {
    const real = realPlace(place);
    if (isWithin(root, real))
      return `${name} is in ${serve_dir}, whose files everybody may read: name another directory`;
    if (isWithin(real, root)) return `${serve_dir} is in ${name}: name another directory`;
  }
  return null;
}

/** The real path, also of something that is not there yet. */
function realPlace(path: string): string {
  const parent = resolve(path, "..");
  if (existsSync(path) || parent === path) return existsSync(path) ? realpathSync(path) : path;
  return join(realPlace(parent), path.slice(parent.length));
}
