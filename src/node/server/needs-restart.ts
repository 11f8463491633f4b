import type { Problem } from "../../problems/problem.js";
import type { Config } from "../../project/config.js";
import { configFile } from "../../project/file-names.js";
import { isMetered } from "../../project/is-metered.js";
import { namedHost } from "../../project/listen-url.js";

/** The settings that a server takes over only when it starts, with a problem for each that has changed. */
export function restartProblems(before: Config, after: Config): Problem[] {
  const settings: Readonly<Record<string, (config: Config) => unknown>> = {
    "server.host": ({ server }) => server.host,
    "server.port": ({ server }) => server.port,
    "server.tls_cert": ({ server }) => server.tls_cert,
    "server.tls_key": ({ server }) => server.tls_key,
    "server.max_connections": ({ server }) => server.max_connections,
    "server.second": ({ server }) => server.second,
    "console.listen": ({ console }) => console.listen,
    "database.url": ({ database }) => database.url,
    "database.auth_token_env": ({ database }) => database.auth_token_env,
    "database.synchronous": ({ database }) => database.synchronous,
    "usage.enabled": isMetered,
    "usage.journal_dir": ({ usage }) => usage.journal_dir,
    "usage.journal_max_bytes": ({ usage }) => usage.journal_max_bytes,
    // It decides at which names this machine listens.
    "auth.cookie_mode": ({ server, auth }) => namedHost(server.host, auth.cookie_mode).name,
  };
  return Object.entries(settings)
    .filter(([, valueIn]) => valueIn(before) !== valueIn(after))
    .map(([path]) => ({ file: configFile, path, message: "needs a restart" }));
}
