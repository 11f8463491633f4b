import { parse as parseToml, TomlError } from "smol-toml";
import * as v from "valibot";
import { stepsOf } from "../problems/dotted-path.js";
import { pointAt } from "../problems/point-at.js";
import type { Problem } from "../problems/problem.js";
import { type Inconsistency, inconsistenciesOf } from "./config-inconsistencies.js";
import { databaseUrlProblem } from "./database-url.js";
import { configFile as file } from "./file-names.js";
import { isOrigin } from "./is-origin.js";
import { soundPart } from "./sound-part.js";
import { isPlainObject, mapOf, mapWith, problemsOf } from "./valibot-problems.js";

/** svc.toml after parsing: every key present, with its default (docs/reference/configuration.md). Times are seconds, sizes bytes. */
export type Config = v.InferOutput<typeof configSchema>;

/** What `parseConfig` makes of a text. */
export interface ParsedConfig {
  /** Null where there are problems. */
  readonly config: Config | null;
  /** Beside problems too, as far as they are text; null where the file is no TOML. */
  readonly rules: Config["rules"] | null;
  readonly problems: readonly Problem[];
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
  const found = [...inconsistenciesOf(sound), ...more(sound)];
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

const ruleText = v.optional(v.string());
const tableRules = mapWith({
  read: ruleText,
  create: ruleText,
  update: ruleText,
  delete: ruleText,
  columns: v.optional(mapOf(mapWith({ read: ruleText, write: ruleText }))),
});

const configSchema = mapWith({
  server: section({
    host: string("127.0.0.1"),
    port: integer(8787, 0, 65535),
    tls_cert: string(""),
    tls_key: string(""),
    trust_proxy: boolean(false),
  }),
  database: section({
    url: databaseUrl,
    auth_token_env: environmentName("SVC_DATABASE_TOKEN"),
    synchronous: v.optional(v.picklist(["full", "normal"]), "full"),
  }),
  schema: section({ auto_apply: boolean(true) }),
  auth: section({
    jwt_secret_env: environmentName("SVC_JWT_SECRET"),
    allow_insecure_dev_secret: boolean(false),
    dev_secret: string(""),
    access_token_ttl_secs: integer(900, 1, 86_400),
    refresh_token_ttl_secs: integer(2_592_000, 60, 31_536_000),
    refresh_token_rotation_grace_secs: integer(10, 0, 300),
    password_min_length: integer(6, 6, 1024),
    cookie_mode: boolean(false),
    cookie_secure: boolean(true),
    cookie_tokens_in_body: boolean(true),
    public_base_url: publicBaseUrl,
    throttle: section({
      enabled: boolean(true),
      max_failures: integer(10, 1, 1_000_000),
      max_failures_per_address: integer(50, 1, 1_000_000),
      max_failures_per_account: integer(100, 1, 1_000_000),
      window_secs: integer(300, 1, 86_400),
      max_mails_per_address: integer(5, 1, 1_000_000),
    }),
  }),
  cors: section({
    allowed_origins: v.optional(v.array(origin), []),
    allow_any_origin: boolean(false),
  }),
  api: section({
    scan_limit: integer(100_000, 1, 100_000_000),
    max_body_bytes: integer(1_048_576, 1024, 16_777_216),
    public_openapi: boolean(false),
  }),
  usage: section({
    enabled: boolean(true),
    row_metering_enabled: boolean(true),
    journal_dir: string(".svc/usage"),
    retention_days: integer(30, 1, 36_500),
  }),
  mail: section({
    transport: v.optional(v.picklist(["log", "smtp", "http"]), "log"),
    from: string("svc <no-reply@localhost>"),
    log_dir: string(".svc/mail"),
    smtp_url_env: environmentName("SVC_SMTP_URL"),
    http_url: string(""),
    http_token_env: environmentName("SVC_MAIL_TOKEN"),
  }),
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
