import { resolve } from "node:path";
import { databaseFile } from "../node/database-file.js";
import type { Config } from "../project/config.js";

/** A path that svc.toml names. */
export interface ProjectPath {
  /** The key of svc.toml, such as `mail.log_dir`. */
  readonly key: string;
  readonly path: string;
}

/** All file system paths that svc.toml names, resolved for a project in `directory`. */
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
