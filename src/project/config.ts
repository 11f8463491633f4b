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
  v.check(
    isOrigin,
    "expected an origin such as https://app.example.com, without a path, a * or a / at its end",
  ),
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
    /** The address to listen on. The variable `HOST` and `--host` win over it. */
    host: string("127.0.0.1"),
    /** The port to listen on; 0 picks a free one. The variable `PORT` and `--port` win over it. */
    port: integer(8787, 0, 65535),
    /** The path of a certificate in PEM form. With `tls_key` the server speaks HTTPS; set both, or neither. */
    tls_cert: string(""),
    /** The path of the certificate's private key in PEM form. */
    tls_key: string(""),
    /**
     * Whether the server believes what a proxy in front of it adds to requests: the client address is then the last
     * entry of `X-Forwarded-For`, and whether the client came over `http` or `https` is the last entry of
     * `X-Forwarded-Proto`.
     */
    trust_proxy: boolean(false),
    /**
     * How many connections the server holds at once; further ones are closed as they come, and the log says so. Each takes a file
     * descriptor and some 20 KB. On a Worker it has no effect.
     */
    max_connections: integer(4_000, 1, 1_000_000),
    /**
     * Whether this server may run beside another one on the same database file. Without it, a start is refused while another
     * server has the file. With it, this one never checkpoints the file's log until the other one is gone.
     */
    second: boolean(false),
  }),
  database: section({
    /**
     * Where the data is: `file:` and a path (no `?` parameters, nothing in memory), or a libSQL server by a URL that begins with
     * `libsql:` or `https:`, or on a loopback address `http:`. A Worker with D1 does not read it.
     */
    url: databaseUrl,
    /** The environment variable that holds the token for a libSQL server. Where it is not set, no token is sent. */
    auth_token_env: environmentName("SVC_DATABASE_TOKEN"),
    /**
     * When a commit to a file is answered: with `full` once it would survive a power cut, with `normal` once it would survive the
     * death of the process.
     */
    synchronous: v.optional(v.picklist(["full", "normal"]), "full"),
  }),
  schema: section({
    /**
     * Whether a start applies a changed `svc.schema.yaml` where all of its steps are safe. Where one is not, all of
     * them wait for `svc schema apply`.
     */
    auto_apply: boolean(true),
  }),
  auth: section({
    /** The environment variable that holds the secret, of at least 32 bytes, that signs tokens and seals cursors. */
    jwt_secret_env: environmentName("SVC_JWT_SECRET"),
    /**
     * The environment variable that holds the previous secret while a new one replaces it: what was made under it is still taken,
     * and nothing new is made under it (docs/deploy.md#changing-the-secret).
     */
    jwt_previous_secret_env: environmentName("SVC_JWT_PREVIOUS_SECRET"),
    /**
     * Whether `dev_secret` is used while the secret's variable is not set. It is for local development: the server then listens on
     * loopback addresses only, answers only requests whose `Host` is one, and warns at start.
     */
    allow_insecure_dev_secret: boolean(false),
    /** The secret for development, of at least 32 bytes. Whoever reads it can sign in as anybody. */
    dev_secret: string(""),
    /** How long an access token is good, in seconds. */
    access_token_ttl_secs: integer(900, 1, 86_400),
    /** How long a refresh token is good if it is not used, in seconds. */
    refresh_token_ttl_secs: integer(2_592_000, 60, 31_536_000),
    /** How long a session lasts, in seconds, however often its tokens are refreshed. Its refresh tokens are good no longer. */
    session_max_age_secs: integer(7_776_000, 60, 315_360_000),
    /**
     * For how long after its first use a refresh token may be sent again, and then gives the same new token, in
     * seconds.
     */
    refresh_token_rotation_grace_secs: integer(10, 0, 300),
    /** The fewest characters that a new password may have. The most is 1024 bytes, whatever this says. */
    password_min_length: integer(6, 6, 1024),
    /** Whether responses that hand out tokens set cookies too, for browsers. It needs `cors.allowed_origins`. */
    cookie_mode: boolean(false),
    /** Whether the cookies that hold tokens are `Secure`. `false` is for local HTTP. */
    cookie_secure: boolean(true),
    /**
     * With `cookie_mode`, whether the body of a response that hands out tokens holds them as well. Without effect
     * elsewhere.
     */
    cookie_tokens_in_body: boolean(true),
    /**
     * The canonical origin of the server, such as `https://api.example.com`: scheme, host and port, without a path. Links in mails
     * and callbacks of sign-in providers begin with it. `SVC_GATEWAY_URL` wins over it.
     */
    public_base_url: publicBaseUrl,
    throttle: section({
      /** Whether failed passwords, registrations, and mails to an address, are counted and limited. */
      enabled: boolean(true),
      /** How many failed passwords one account may have from one client address within a window of `window_secs`. */
      max_failures: integer(10, 1, 1_000_000),
      /**
       * How many failed passwords one client address may have within a window of `window_secs`, for all accounts
       * together.
       */
      max_failures_per_address: integer(50, 1, 1_000_000),
      /**
       * How many failed passwords one account may have in a day, from all addresses together, before further ones are
       * taken ever more rarely: one more after `window_secs`, after three times as long, seven times, and so on.
       * Addresses that the account has signed in from before are exempt.
       */
      max_failures_per_account: integer(100, 1, 1_000_000),
      /** How long a window is, within which failed passwords are counted, in seconds. */
      window_secs: integer(300, 1, 86_400),
      /** How many registrations, resent links, password resets and changes of address together one client address may ask for in an hour. */
      max_registrations_per_address: integer(1_000, 1, 1_000_000),
      /** How many mails of a kind one email address gets in an hour. Past it the answer is the same, and nothing is sent. */
      max_mails_per_address: integer(5, 1, 1_000_000),
    }),
  }),
  cors: section({
    /** The origins whose pages may call the server from a browser, such as `https://app.example.com`; without `*`. */
    allowed_origins: v.optional(v.array(origin), []),
    /** Whether pages of every origin may call, without cookies. Not together with `auth.cookie_mode`. */
    allow_any_origin: boolean(false),
  }),
  api: section({
    /** How many rows a list examines at most for one page. */
    scan_limit: integer(100_000, 1, 100_000_000),
    /** How long the database may take for a request, waiting included, in milliseconds. Past it: 503 `deadline_exceeded`. */
    deadline_ms: integer(5_000, 100, 600_000),
    /**
     * How long the database may take for a request with an API key, or for a change of the schema over HTTP, waiting
     * included, in milliseconds. Past it: 503 `deadline_exceeded`. Commands have no deadline.
     */
    key_deadline_ms: integer(30_000, 100, 3_600_000),
    /** The largest body of a request, in bytes. */
    max_body_bytes: integer(1_048_576, 1024, 16_777_216),
    /** Whether `GET /openapi.json` answers everybody, instead of administrators and `project:backend` keys alone. */
    public_openapi: boolean(false),
  }),
  sync: section({
    /**
     * How many streams of changes, and pulls that wait for changes, the process has at once. Anonymous callers get half
     * of them at most.
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
    /** Whether there is a console: the page `/console`, and what it alone uses under `/admin/api` (docs/console.md). */
    enabled: boolean(true),
    /**
     * An address and a port of their own for the console and all of `/admin/api`, such as `127.0.0.1:8790`. Both are
     * then missing at the server's other address. For Node.
     */
    listen: listenAddress,
  }),
  usage: section({
    /**
     * Whether requests are metered. With `false`, answers hold no counts, and requests leave no receipts (records of
     * what they cost).
     */
    enabled: boolean(true),
    /** A second switch for metering, beside `enabled`: requests are not metered if either is `false`. */
    row_metering_enabled: boolean(true),
    /**
     * The directory of the journal, to which receipts of metered requests are first written. Nothing else may be in it.
     * On a Worker the journal is in the database.
     */
    journal_dir: string(".svc/usage"),
    /**
     * How many bytes receipts of metered requests may take, in the journal and in the database. Near it, receipts of
     * anonymous requests that write nothing are summed by table and minute. On a Worker it has no effect.
     */
    journal_max_bytes: integer(1_073_741_824, 67_108_864, 1_099_511_627_776),
    /** How long receipts of metered requests are kept, in days. The sums of their days are kept. */
    retention_days: integer(30, 1, 36_500),
  }),
  mail: section({
    /** How mails leave: `log` writes them to files (on a Worker: to its log), `smtp` is for Node, `http` posts them as JSON. */
    transport: v.optional(v.picklist(["log", "smtp", "http"]), "log"),
    /** The sender, as `Name <address>`. Mails call the project by that name. */
    from: string("svc <no-reply@localhost>"),
    /** With the transport `log`: the directory of the mails, one `.eml` file each. Nothing else may be in it. */
    log_dir: string(".svc/mail"),
    /**
     * With the transport `smtp`: the environment variable that holds the server's URL, such as
     * `smtps://user:password@mail.example.com:465`.
     */
    smtp_url_env: environmentName("SVC_SMTP_URL"),
    /** With the transport `http`: the http(s) URL to post mails to. */
    http_url: string(""),
    /** With the transport `http`: the environment variable that holds the Bearer token to post mails with. */
    http_token_env: environmentName("SVC_MAIL_TOKEN"),
  }),
  log: section({
    /**
     * How the request log is written to standard error, a line for each request (docs/reference/log.md): `text` is for people, `json`
     * for programs, which then get the server's messages as JSON, too. `off` writes messages alone.
     */
    format: v.optional(v.picklist(["text", "json", "off"]), "text"),
    /**
     * Which lines the log has: `error` those of failures of the server, `warn` warnings as well, `info` every request,
     * `debug` also the names of its parameters. Lines of security events are written at every level.
     */
    level: v.optional(v.picklist(["debug", "info", "warn", "error"]), "info"),
    /**
     * What lines of the request log have of the client's address: `prefix` its /24, or the /64 of an IPv6 address;
     * `off` nothing.
     */
    addresses: v.optional(v.picklist(["prefix", "off"]), "prefix"),
  }),
  /** Conditions that rules use by name: docs/reference/rules.md#named-conditions. */
  conditions: v.optional(mapOf(v.string()), {}),
  /** Who may do what: docs/reference/rules.md. */
  rules: v.optional(mapOf(tableRules), {}),
});
