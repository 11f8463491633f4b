import { parse as parseToml, TomlError } from "smol-toml";
import * as v from "valibot";
import { stepsOf } from "../problems/dotted-path.js";
import { pointAt } from "../problems/point-at.js";
import type { Problem } from "../problems/problem.js";
import { configFile as file } from "./config-file.js";
import { databaseUrlProblem } from "./database-url.js";
import { soundPart } from "./sound-part.js";
import { isPlainObject, mapOf, mapWith, problemsOf } from "./valibot-problems.js";

/** svc.toml after parsing: every key present, with its default (docs/reference/configuration.md). Times are seconds, sizes bytes. */
export type Config = v.InferOutput<typeof configSchema>;

export interface ParsedConfig {
  /** Null where there are problems. */
  readonly config: Config | null;
  /** Beside problems too, as far as they are text; null where the file is no TOML. */
  readonly rules: Config["rules"] | null;
  readonly problems: readonly Problem[];
}

/** Something wrong with a key, unless that or one of the others is in doubt anyway. */
export interface Inconsistency {
  readonly path: string;
  readonly others: readonly string[];
  readonly message: string;
}

/** Every problem of the file at once, or the settings; `more` finds what hangs on where the file lies. */
export function parseConfig(
  text: string,
  more: (config: Config) => readonly Inconsistency[] = () => [],
): ParsedConfig {
  let raw: Record<string, unknown>;
  try {
    raw = parseToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { config: null, rules: null, problems: [syntaxProblem(text, error)] };
  }
  const result = v.safeParse(configSchema, raw);
  const problems = result.success ? [] : problemsOf(file, result.issues).map(withItsSection);
  const sound = result.success ? result.output : soundPart(configSchema, raw)!;
  const isInDoubt = doubts(raw, problems);
  const found = [...inconsistencies(sound), ...more(sound)];
  for (const { path, others, message } of found)
    if (![path, ...others].some(isInDoubt)) problems.push({ file, path, message });
  return { config: problems.length === 0 ? sound : null, rules: sound.rules, problems };
}

function syntaxProblem(text: string, error: TomlError): Problem {
  const { line, column } = error;
  const said = error.message.split("\n")[0]!.replace("Invalid TOML document: ", "");
  const message = `column ${column}: ${said}${remedies.get(said) ?? ""}\n${pointAt(text, error)}`;
  return { file, line, path: "", message };
}

const quotesNeeded = ": text is written in quotes, and true and false in lower case";
const keyNeeded = ': expected key = value, or a header such as [auth] with its "]"';
const bracketNeeded = ": look for a missing comma or bracket before this";

/** What to do about what smol-toml says, in its words. */
export const remedies = new Map([
  ["invalid value", quotesNeeded],
  ["illegal character in numeric literal", quotesNeeded],
  ["control characters are not allowed in strings", ': the text has no closing " in its line'],
  ["unfinished string", ": the text has no closing quotes"],
  ["unrecognised escape sequence", ": write \\\\ for a \\, or put the text in single quotes"],
  ["illegal character in key", keyNeeded],
  ["unexpected end of key", keyNeeded],
  ["incomplete key-value: cannot find end of key", keyNeeded],
  ["expected comma or end of structure", bracketNeeded],
  ["unfinished array", bracketNeeded],
  ["unfinished table", bracketNeeded],
  [
    "each key-value declaration must be followed by an end-of-line",
    ': the value ends before this; within a "text" write \' instead of "',
  ],
  ["trying to redefine an already defined table or value", ": it is there twice, make one of both"],
  ["trying to redefine an already defined value", ": it is there twice, make one of both"],
]);

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
    (text) => isOrigin(text),
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

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

const ruleText = v.optional(v.string());
const tableRules = mapWith({
  read: ruleText,
  create: ruleText,
  update: ruleText,
  delete: ruleText,
  columns: v.optional(mapOf(mapWith({ read: ruleText, write: ruleText }))),
});

/** The keys of svc.toml. What is said of each here is its row in docs/reference/configuration.md: `npm run docs` writes that. */
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
     * Whether what a proxy in front of the server adds to requests is believed: the client address is then the last entry of
     * `X-Forwarded-For`, and whether the client came over `http` or `https` is the last entry of `X-Forwarded-Proto`.
     */
    trust_proxy: boolean(false),
  }),
  database: section({
    /**
     * Where the data is: `file:` and a path (no `?` parameters, nothing in memory), or a libSQL server by a URL that begins with
     * `libsql:`, `https:` or `http:`. A Worker with D1 does not read it.
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
    /** Whether a start applies the safe steps of a changed `svc.schema.yaml`. Others always wait for `svc schema apply`. */
    auto_apply: boolean(true),
  }),
  auth: section({
    /** The environment variable that holds the secret, of at least 32 bytes, that signs tokens and seals cursors. */
    jwt_secret_env: environmentName("SVC_JWT_SECRET"),
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
    /** For how long after its first use a refresh token still gives the same successor, in seconds. */
    refresh_token_rotation_grace_secs: integer(10, 0, 300),
    /** The fewest characters that a new password may have. The most is 1024 bytes, whatever this says. */
    password_min_length: integer(6, 6, 1024),
    /** Whether token responses set cookies too, for browsers. It needs `cors.allowed_origins`. */
    cookie_mode: boolean(false),
    /** Whether cookies are `Secure`. `false` is for local HTTP. */
    cookie_secure: boolean(true),
    /** In cookie mode, whether the body of a token response holds the tokens as well. Without effect elsewhere. */
    cookie_tokens_in_body: boolean(true),
    /**
     * The canonical origin of the server, such as `https://api.example.com`: scheme, host and port, without a path. Links in mails
     * and callbacks of sign-in providers begin with it. `SVC_GATEWAY_URL` wins over it.
     */
    public_base_url: publicBaseUrl,
    throttle: section({
      /** Whether failed passwords, and mails to an address, are counted and limited. */
      enabled: boolean(true),
      /** How many failed passwords a window takes for one account from one client address. */
      max_failures: integer(10, 1, 1_000_000),
      /** How many failed passwords a window takes from one client address, for all accounts together. */
      max_failures_per_address: integer(50, 1, 1_000_000),
      /**
       * How many failed passwords a window takes for one account, from all addresses together. Addresses that the account has signed
       * in from before are exempt.
       */
      max_failures_per_account: integer(100, 1, 1_000_000),
      /** How long a window is, in seconds. */
      window_secs: integer(300, 1, 86_400),
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
    /** The largest body of a request, in bytes. */
    max_body_bytes: integer(1_048_576, 1024, 16_777_216),
    /** Whether `GET /openapi.json` answers everybody, instead of administrators and `project:backend` keys alone. */
    public_openapi: boolean(false),
  }),
  usage: section({
    /** `false`: answers hold no counts, and requests leave no receipts. */
    enabled: boolean(true),
    /** `false` does the same as `enabled = false`. */
    row_metering_enabled: boolean(true),
    /** The directory of the journal of receipts, for it alone. On a Worker the journal is in the database. */
    journal_dir: string(".svc/usage"),
    /** How long receipts are kept, in days. The sums of their days are kept. */
    retention_days: integer(30, 1, 36_500),
  }),
  mail: section({
    /** How mails leave: `log` writes them to files (on a Worker: to its log), `smtp` is for Node, `http` posts them as JSON. */
    transport: v.optional(v.picklist(["log", "smtp", "http"]), "log"),
    /** The sender, as `Name <address>`. Mails call the project by that name. */
    from: string("svc <no-reply@localhost>"),
    /** For `log`: the directory of the mails, one `.eml` file each, for them alone. */
    log_dir: string(".svc/mail"),
    /** For `smtp`: the environment variable that holds the server's URL, such as `smtps://user:password@mail.example.com:465`. */
    smtp_url_env: environmentName("SVC_SMTP_URL"),
    /** For `http`: the http(s) URL to post mails to. */
    http_url: string(""),
    /** For `http`: the environment variable that holds the Bearer token to post them with. */
    http_token_env: environmentName("SVC_MAIL_TOKEN"),
  }),
  /** Who may do what: docs/reference/rules.md. */
  rules: v.optional(mapOf(tableRules), {}),
});

/** A known key in the wrong place: above all headers, or under the wrong one. */
function withItsSection(problem: Problem): Problem {
  const key = problem.path.split(".").at(-1)!;
  const at = problem.path.startsWith("rules.") ? [] : sectionsWith(key, configSchema);
  return at.length === 0 || !problem.message.startsWith("unknown key")
    ? problem
    : {
        ...problem,
        message: `unknown key; ${key} belongs under ${at.map((name) => `[${name}]`).join(" or ")}`,
      };
}

/** Names of the sections within that have the key, such as `auth.throttle`. */
function sectionsWith(key: string, schema: unknown): string[] {
  return Object.entries(entriesOf(schema)).flatMap(([name, entry]) => {
    const inner = (entry as { wrapped?: unknown }).wrapped;
    const below = sectionsWith(key, inner).map((path) => `${name}.${path}`);
    return Object.hasOwn(entriesOf(inner), key) ? [name, ...below] : below;
  });
}

function entriesOf(schema: unknown): object {
  return (schema as { entries?: object } | undefined)?.entries ?? {};
}

/**
 * Tells whether a key may be meant to have another value than it was read with: it, or something within it, has a problem,
 * or it is not there, beside an unknown key that may be it.
 */
function doubts(raw: unknown, problems: readonly Problem[]): (path: string) => boolean {
  const wrong = problems.map(({ path, message }) => ({
    steps: stepsOf(path),
    isUnknown: message.startsWith("unknown key"),
  }));
  const isWithin = (steps: readonly string[], outer: readonly string[]) =>
    outer.every((step, i) => steps[i] === step);
  return (path) => {
    const steps = stepsOf(path);
    const absent = steps.findIndex((_, i) => !has(raw, steps.slice(0, i + 1)));
    const beside = absent === -1 ? null : steps.slice(0, absent);
    return wrong.some(
      (at) =>
        isWithin(at.steps, steps) ||
        (isWithin(steps, at.steps) && !at.isUnknown) ||
        (at.isUnknown && beside?.length === at.steps.length - 1 && isWithin(at.steps, beside)),
    );
  };
}

function has(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  return isPlainObject(value) && Object.hasOwn(value, key) && has(value[key], rest);
}

/** What no key shows alone. */
function inconsistencies(config: Config): readonly Inconsistency[] {
  const found: Inconsistency[] = [];
  const add = (path: string, others: readonly string[], message: string) => {
    found.push({ path, others, message });
  };
  const { server, auth, cors, mail } = config;
  if ((server.tls_cert === "") !== (server.tls_key === "")) {
    const [given, absent] = server.tls_key === "" ? ["tls_cert", "tls_key"] : ["tls_key", "tls_cert"];
    add(
      `server.${given}`,
      [`server.${absent}`],
      `goes together with ${absent}, which is not set: set both, or neither`,
    );
  }
  if (auth.cookie_mode && cors.allow_any_origin)
    add(
      "cors.allow_any_origin",
      ["auth.cookie_mode"],
      "auth.cookie_mode needs origins by name: remove this, and list them in cors.allowed_origins",
    );
  if (auth.cookie_mode && cors.allowed_origins.length === 0)
    add(
      "auth.cookie_mode",
      ["cors.allowed_origins"],
      'needs the origins of your pages: allowed_origins = ["https://app.example.com"] under [cors]',
    );
  if (mail.transport === "http" && !/^https?:\/\/./.test(mail.http_url))
    add(
      "mail.http_url",
      ["mail.transport"],
      'expected an http(s) URL to post mails to, since mail.transport is "http"',
    );
  return found;
}
