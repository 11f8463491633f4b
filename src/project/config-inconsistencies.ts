import type { Config } from "./config.js";

/**
 * A contradiction between keys of svc.toml, reported at `path` unless that key or one of `others` has another problem.
 * Paths are dotted, such as `server.tls_cert`.
 */
export interface Inconsistency {
  readonly path: string;
  readonly others: readonly string[];
  readonly message: string;
}

/**
 * Settings that are each valid by itself and contradict each other
 * (docs/reference/configuration.md#keys-that-depend-on-each-other).
 */
export function inconsistenciesOf(config: Config): readonly Inconsistency[] {
  return inconsistencies.filter(({ isFound }) => isFound(config));
}

const inconsistencies: readonly (Inconsistency & { readonly isFound: (config: Config) => boolean })[] = [
  {
    isFound: ({ server }) => server.tls_cert !== "" && server.tls_key === "",
    path: "server.tls_cert",
    others: ["server.tls_key"],
    message: "goes together with tls_key, which is not set: set both, or neither",
  },
  {
    isFound: ({ server }) => server.tls_key !== "" && server.tls_cert === "",
    path: "server.tls_key",
    others: ["server.tls_cert"],
    message: "goes together with tls_cert, which is not set: set both, or neither",
  },
  {
    isFound: ({ auth }) => auth.jwt_previous_secret_env === auth.jwt_secret_env,
    path: "auth.jwt_previous_secret_env",
    others: ["auth.jwt_secret_env"],
    message: "names the variable of the current secret: the previous one needs a variable of its own",
  },
  {
    isFound: ({ auth, cors }) => auth.cookie_mode && cors.allow_any_origin,
    path: "cors.allow_any_origin",
    others: ["auth.cookie_mode"],
    message: "auth.cookie_mode needs origins by name: remove this, and list them in cors.allowed_origins",
  },
  {
    // Pages of `server.serve_dir` are of the server's own origin.
    isFound: ({ auth, cors, server }) =>
      auth.cookie_mode && cors.allowed_origins.length === 0 && server.serve_dir === "",
    path: "auth.cookie_mode",
    others: ["cors.allowed_origins"],
    message: 'needs the origins of your pages: allowed_origins = ["https://app.example.com"] under [cors]',
  },
  {
    isFound: ({ server }) => server.fallback !== "" && server.serve_dir === "",
    path: "server.fallback",
    others: ["server.serve_dir"],
    message: "is a file of server.serve_dir, which is not set",
  },
  {
    isFound: ({ mail }) => mail.transport === "http" && !/^https?:\/\/./.test(mail.http_url),
    path: "mail.http_url",
    others: ["mail.transport"],
    message: 'expected an http(s) URL to post mails to, since mail.transport is "http"',
  },
];
