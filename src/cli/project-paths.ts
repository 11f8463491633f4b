import { resolve } from "node:path";
import { databaseFile } from "../node/database-file.js";
import type { Config } from "../project/config.js";

export interface ProjectPath {
  /** The key of svc.toml that names it. */
  readonly key: string;
  readonly path: string;
}

/** Every place in the file system that svc.toml names, for a project in `directory`. */
export function projectPaths(config: Config, directory: string): readonly ProjectPath[] {
  const { server, usage, mail } = config;
  const database = databaseFile(config, directory);
  const written = [
    ["usage.journal_dir", usage.journal_dir],
    ["mail.log_dir", mail.log_dir],
    ["server.tls_cert", server.tls_cert],
    ["server.tls_key", server.tls_key],
  ] as const;
  return [
    ...(database === null ? [] : [{ key: "database.url", path: database }]),
    ...written
      .filter(([, path]) => path !== "")
      .map(([key, path]) => ({ key, path: resolve(directory, path) })),
  ];
}
