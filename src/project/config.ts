import * as v from "valibot";
import { databaseUrlProblem } from "./database-url.js";
import { isOrigin } from "./is-origin.js";
import { parseListenAddress } from "./listen-address.js";
import type { RulePlaces } from "./place-in-file.js";
import { mapOf, mapWith } from "./valibot-problems.js";

/**
 * svc.toml after parsing, with a value for every key (docs/reference/configuration.md). A key whose value is a time or
 * a number of bytes has the unit at the end of its name: `_secs`, `_ms`, `_days` or `_bytes`.
 */
export type Config = v.InferOutput<typeof configSchema> & {
  /** Where in svc.toml the texts of the rules and named conditions are written, for messages that point at them. */
  readonly places: RulePlaces;
};

const boolean = (fallback: boolean) => v.optional(v.boolean(), fallback);
const string = (fallback: string) => v.optional(v.string(), fallback);
const integer = (fallback: number, minimum: number, maximum: number) =>
  v.optional(
    v.pipe(
      v.number(),
      v.integer("expected an integer"),
      v.minValue(minimum, `must not be under ${minimum}`),
      v.maxValue(maximum, `must not be over ${maximum}`),
    ),
    fallback,
  );
const section = <const T extends v.ObjectEntries>(entries: T) => {
  const schema = mapWith(entries);
  return v.optional(schema, {} as v.InferInput<typeof schema>);
};

const environmentName = (fallback: string) =>
  v.optional(
    v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "expected the name of an environment variable")),
    fallback,
  );

const databaseUrl = v.optional(
  v.pipe(
    v.string(),
    v.check(
      (url) => databaseUrlProblem(url) === null,
      ({ input }) => databaseUrlProblem(input)!,
    ),
  ),
  "file:.svc/data.db",
);

const origin = v.pipe(
  v.string(),
  v.check(isOrigin, "expected an origin such as https://app.example.com, without a path, a * or a / at its end"),
);

const publicBaseUrl = v.optional(
  v.pipe(
    v.string(),
    v.check(
      (text) => text === "" || isOrigin(text),
      "expected an origin such as https://api.example.com, without a path or a / at its end",
    ),
  ),
  "",
);

const listenAddress = v.optional(
  v.pipe(
    v.string(),
    v.check(
      (text) => text === "" || parseListenAddress(text) !== null,
      "expected an address and a port, such as 127.0.0.1:8790 or [::1]:8790",
    ),
  ),
  "",
);

const ruleText = v.optional(v.string());
const tableRules = mapWith({
  read: ruleText,
  create: ruleText,
  update: ruleText,
  delete: ruleText,
  history: ruleText,
  columns: v.optional(mapOf(mapWith({ read: ruleText, write: ruleText }))),
});

/**
 * The schema of svc.toml, for valibot. `npm run docs` makes the tables of docs/reference/configuration.md from it: each
 * key has a row, which says what the key's comment says.
 */
export const configSchema = mapWith({
  server: section({
    /**
     * The address to listen on. `--host` and the variable `HOST` take precedence. In cookie mode, `127.0.0.1`, `::1` and
     * `localhost` all mean both addresses of this machine (docs/guides/browsers.md#cookies-on-your-own-machine).
     */
    host: string("127.0.0.1"),
    /** The port to listen on; 0 picks a free one. `--port` and the variable `PORT` take precedence. */
    port: integer(8787, 0, 65535),
    /** The path of a certificate in PEM form. With `tls_key`, the server speaks HTTPS. Set both or neither. */
    tls_cert: string(""),
    /** The path of the private key of the certificate, in PEM form. */
    tls_key: string(""),
    /**
     * Whether the server trusts the headers of a proxy in front of it. It then takes the client address from the last
     * entry of `X-Forwarded-For`, and the scheme from the last entry of `X-Forwarded-Proto`.
     */
    trust_proxy: boolean(false),
    /**
     * How many connections the server holds at once. It closes further ones when they arrive and logs this. Each takes
     * a file descriptor and about 20 KB. No effect on a Worker.
     */
    max_connections: integer(4_000, 1, 1_000_000),
    /**
     * How many bytes of long responses may wait until their clients take them. A quarter of it may wait for one user,
     * one API key or one client address. Past it, long responses are 503 `busy`. No effect on a Worker.
     */
    max_unsent_bytes: integer(67_108_864, 1, 2_147_483_647),
    /**
     * Whether this server may run beside another one on the same database file. Otherwise it refuses to start while
     * another server has the file. With `true`, it never checkpoints the log of the file until the other server is
     * gone.
     */
    second: boolean(false),
    /**
     * The directory of your own pages, which the server serves at `/` (docs/deploy.md#your-pages). Empty serves none. No
     * effect on a Worker.
     */
    serve_dir: string(""),
    /**
     * The file of `serve_dir` that answers the navigation of browsers to any other path, such as `index.html` of an
     * application with a router of its own. Empty answers 404.
     */
    fallback: string(""),
  }),
  database: section({
    /**
     * The location of the database: `file:` and a path (no `?` parameters, no in-memory database), or the URL of a
     * libSQL server (`libsql:` or `https:`, or `http:` on a loopback address). A Worker with D1 ignores it.
     */
    url: databaseUrl,
    /** The environment variable with the token for a libSQL server. If it is not set, no token is sent. */
    auth_token_env: environmentName("SVC_DATABASE_TOKEN"),
    /**
     * When a commit to a file is acknowledged: with `full` once it would survive a power failure, with `normal` once it
     * would survive the end of the process.
     */
    synchronous: v.optional(v.picklist(["full", "normal"]), "full"),
  }),
  schema: section({
    /**
     * Whether the server applies a changed `svc.schema.yaml` when it starts, if all steps are safe. If a step is not
     * safe, all of them wait for `svc schema apply`.
     */
    auto_apply: boolean(true),
    /**
     * A step that passes over more rows than this while writes wait, such as a new index on a large table, is not
     * carried out at a start. It waits for `svc schema apply`, and all others with it.
     */
    auto_apply_max_rows: integer(1_000_000, 1, Number.MAX_SAFE_INTEGER),
  }),
  auth: section({
    /** The environment variable with the secret that signs tokens and seals cursors. It has at least 32 bytes. */
    jwt_secret_env: environmentName("SVC_JWT_SECRET"),
    /**
     * The environment variable with the previous secret while a new one replaces it. The server still accepts what was
     * made under the previous secret, and makes nothing new under it (docs/deploy.md#changing-the-secret).
     */
    jwt_previous_secret_env: environmentName("SVC_JWT_PREVIOUS_SECRET"),
    /**
     * Whether to use `dev_secret` if the variable of the secret is not set. For local development: the server then
     * listens only on loopback addresses, serves only requests whose `Host` is one, and warns when it starts.
     */
    allow_insecure_dev_secret: boolean(false),
    /** The secret for development, of at least 32 bytes. Anyone who can read it can sign in as any user. */
    dev_secret: string(""),
    /** The lifetime of an access token, in seconds. */
    access_token_ttl_secs: integer(900, 1, 86_400),
    /** The lifetime of an unused refresh token, in seconds. */
    refresh_token_ttl_secs: integer(2_592_000, 60, 31_536_000),
    /**
     * The maximum age of a session, in seconds, however often its tokens are refreshed. Its refresh tokens end with it.
     */
    session_max_age_secs: integer(7_776_000, 60, 315_360_000),
    /**
     * How long after its first use a refresh token can be sent again, in seconds. It then returns the same new refresh
     * token. With 0, each token works once.
     */
    refresh_token_rotation_grace_secs: integer(10, 0, 300),
    /** The minimum number of characters of a new password. The maximum is always 1024 bytes. */
    password_min_length: integer(6, 6, 1024),
    /** Whether responses with tokens also set cookies, for browsers. Requires `cors.allowed_origins`. */
    cookie_mode: boolean(false),
    /** Whether the cookies with tokens are `Secure`. Use `false` only for local HTTP. */
    cookie_secure: boolean(true),
    /** With `cookie_mode`: whether response bodies contain the tokens as well. No effect without it. */
    cookie_tokens_in_body: boolean(true),
    /**
     * The canonical origin of the server, such as `https://api.example.com`: scheme, host and port, without a path.
     * Links in mails and callback URLs of sign-in providers begin with it. `SVC_GATEWAY_URL` takes precedence.
     */
    public_base_url: publicBaseUrl,
    throttle: section({
      /** Whether the server counts and limits failed passwords, registrations, and mails to an address. */
      enabled: boolean(true),
      /** How many failed passwords one account may have from one client address within `window_secs`. */
      max_failures: integer(10, 1, 1_000_000),
      /** How many failed passwords one client address may have within `window_secs`, for all accounts together. */
      max_failures_per_address: integer(50, 1, 1_000_000),
      /**
       * How many failed passwords one account may have in a day, from all addresses together. Past it, further attempts
       * are allowed after one `window_secs`, after three, after seven and so on. Addresses from which the account has
       * signed in are exempt.
       */
      max_failures_per_account: integer(100, 1, 1_000_000),
      /** The length of the window in which failed passwords are counted, in seconds. */
      window_secs: integer(300, 1, 86_400),
      /**
       * How many registrations, resent links, password resets and changes of address together one client address may
       * request in an hour.
       */
      max_registrations_per_address: integer(1_000, 1, 1_000_000),
      /**
       * How many mails of each kind one email address gets in an hour. Past it, the response is the same and nothing is
       * sent.
       */
      max_mails_per_address: integer(5, 1, 1_000_000),
    }),
  }),
  cors: section({
    /**
     * The origins whose pages may call the server from a browser, such as `https://app.example.com`. `*` is not
     * allowed.
     */
    allowed_origins: v.optional(v.array(origin), []),
    /** Whether pages of every origin may call the server, without cookies. Not together with `auth.cookie_mode`. */
    allow_any_origin: boolean(false),
  }),
  api: section({
    /** The maximum number of rows that a list examines for one page. */
    scan_limit: integer(100_000, 1, 100_000_000),
    /**
     * The time that the database may take for a request, waiting included, in milliseconds. Past it: 503
     * `deadline_exceeded`.
     */
    deadline_ms: integer(5_000, 100, 600_000),
    /**
     * The same for a request with an API key, or for a change of the schema over HTTP, in milliseconds. Commands have
     * no deadline.
     */
    key_deadline_ms: integer(30_000, 100, 3_600_000),
    /** The maximum size of a request body, in bytes. */
    max_body_bytes: integer(1_048_576, 1024, 16_777_216),
    /**
     * How many bytes of rows a page of a list, a pull, a history or a search has at most. The page ends before the row
     * that would exceed it, but has at least one row. A database that returns less at once, such as D1, ends pages
     * there.
     */
    max_page_bytes: integer(4_194_304, 1, 33_554_432),
    /**
     * Whether every table whose read rule depends on the row needs a way: indexes that lead from the caller to the rows
     * that the rule admits (docs/security.md#what-scans-tell). If one has none, `svc check` fails, and the server does
     * not start.
     */
    require_ways: boolean(false),
    /** Whether everyone can read `GET /openapi.json`, instead of only administrators and `project:backend` keys. */
    public_openapi: boolean(false),
  }),
  sync: section({
    /**
     * How many streams of changes, and pulls that wait for changes, the process serves at once. Anonymous callers get
     * at most half of them.
     */
    max_streams: integer(1_000, 1, 100_000),
    /** How many streams and waiting pulls a session may have at once. */
    max_streams_per_session: integer(10, 1, 100_000),
    /** How many streams and waiting pulls a user may have at once, in all sessions together. */
    max_streams_per_user: integer(100, 1, 100_000),
    /** How many streams and waiting pulls an API key may have at once. */
    max_streams_per_key: integer(100, 1, 100_000),
    /** How many streams and waiting pulls a client address may have at once without a credential. */
    max_streams_per_address: integer(50, 1, 100_000),
  }),
  console: section({
    /**
     * Whether the server has a console: the page `/console` and the endpoints under `/admin/api` that only the console
     * uses (docs/console.md).
     */
    enabled: boolean(true),
    /**
     * A separate address and port for the console and all of `/admin/api`, such as `127.0.0.1:8790`. The main address
     * then serves neither. Node only.
     */
    listen: listenAddress,
  }),
  usage: section({
    /**
     * Whether requests are metered. With `false`, responses contain no counts, and requests leave no receipts (records
     * of what they cost).
     */
    enabled: boolean(true),
    /** A second switch for metering: requests are metered only if both this and `enabled` are `true`. */
    row_metering_enabled: boolean(true),
    /**
     * The directory of the journal, to which receipts of metered requests are written first. It must contain nothing
     * else. On a Worker, the journal is in the database.
     */
    journal_dir: string(".svc/usage"),
    /**
     * The maximum size of all receipts of metered requests, in the journal and in the database together, in bytes. Near
     * it, receipts of anonymous requests that write nothing are summed by table and minute. No effect on a Worker.
     */
    journal_max_bytes: integer(1_073_741_824, 67_108_864, 1_099_511_627_776),
    /** How long receipts of metered requests are kept, in days. Their daily sums are not deleted. */
    retention_days: integer(30, 1, 36_500),
  }),
  mail: section({
    /**
     * How mails are delivered: `log` writes them to files (on a Worker, to its log), `smtp` is for Node, and `http`
     * posts them as JSON.
     */
    transport: v.optional(v.picklist(["log", "smtp", "http"]), "log"),
    /** The sender, as `Name <address>`. Mails call the project by that name. */
    from: string("svc <no-reply@localhost>"),
    /** With the transport `log`: the directory of the mails, one `.eml` file each. It must contain nothing else. */
    log_dir: string(".svc/mail"),
    /**
     * With the transport `smtp`: the environment variable with the URL of the mail server, such as
     * `smtps://user:password@mail.example.com:465`.
     */
    smtp_url_env: environmentName("SVC_SMTP_URL"),
    /** With the transport `http`: the http(s) URL to which mails are posted. */
    http_url: string(""),
    /** With the transport `http`: the environment variable with the Bearer token that is sent with mails. */
    http_token_env: environmentName("SVC_MAIL_TOKEN"),
  }),
  log: section({
    /**
     * The format of the request log on standard error, one line for each request (docs/reference/log.md). `text` is for
     * people. `json` is for programs and also applies to the messages of the server. `off` writes only messages.
     */
    format: v.optional(v.picklist(["text", "json", "off"]), "text"),
    /**
     * Which lines are logged: with `error` failures of the server, with `warn` also warnings, with `info` every
     * request, with `debug` also the names of its parameters. Security events are logged at every level.
     */
    level: v.optional(v.picklist(["debug", "info", "warn", "error"]), "info"),
    /**
     * What the request log contains of the client address: with `prefix` its /24, or the /64 of an IPv6 address; with
     * `off` nothing.
     */
    addresses: v.optional(v.picklist(["prefix", "off"]), "prefix"),
  }),
  /** Conditions that rules use by name: docs/reference/rules.md#named-conditions. */
  conditions: v.optional(mapOf(v.string()), {}),
  /** Who may do what: docs/reference/rules.md. */
  rules: v.optional(mapOf(tableRules), {}),
});
