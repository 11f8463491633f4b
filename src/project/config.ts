import { parse as parseToml, TomlError } from "smol-toml";
import * as v from "valibot";
import type { Problem } from "./problem.js";
import { mapOf, problemsOf } from "./valibot-problems.js";

/** svc.toml after parsing: every key present, with its default (interface, section 2). Times are seconds, sizes bytes. */
export type Config = v.InferOutput<typeof configSchema>;

/** Every problem of the file at once, or the settings. */
export function parseConfig(text: string): { config: Config | null; problems: readonly Problem[] } {
  let raw: unknown;
  try {
    raw = parseToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const message = error.message.split("\n")[0]!.replace("Invalid TOML document: ", "");
    return {
      config: null,
      problems: [{ file, path: "", message: `line ${error.line}, column ${error.column}: ${message}` }],
    };
  }
  const result = v.safeParse(configSchema, raw);
  const problems = result.success ? inconsistencies(result.output) : problemsOf(file, result.issues);
  return { config: result.success && problems.length === 0 ? result.output : null, problems };
}

const file = "svc.toml";

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
  const schema = v.strictObject(entries);
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
    v.regex(/^(file:.|libsql:\/\/.|https?:\/\/.)/, "expected file:…, libsql://…, https://… or http://…"),
  ),
  "file:.svc/data.db",
);

const origin = v.pipe(
  v.string(),
  v.check((text) => isOrigin(text), "expected an origin such as https://app.example.com"),
);

const publicBaseUrl = v.optional(
  v.pipe(
    v.string(),
    v.check((text) => text === "" || isOrigin(text), "expected an origin such as https://api.example.com"),
  ),
  "",
);

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

const ruleText = v.optional(v.string());
const tableRules = v.strictObject({
  read: ruleText,
  create: ruleText,
  update: ruleText,
  delete: ruleText,
  columns: v.optional(mapOf(v.strictObject({ read: ruleText, write: ruleText }))),
});

const configSchema = v.strictObject({
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

/** What no key shows alone. */
function inconsistencies(config: Config): Problem[] {
  const problems: Problem[] = [];
  const add = (path: string, message: string) => problems.push({ file, path, message });
  const { server, auth, cors, mail } = config;
  if ((server.tls_cert === "") !== (server.tls_key === ""))
    add("server", "tls_cert and tls_key go together: set both or neither");
  if (auth.cookie_mode && cors.allow_any_origin)
    add("cors.allow_any_origin", "credentialed cookies (auth.cookie_mode) need explicit origins");
  if (auth.cookie_mode && cors.allowed_origins.length === 0)
    add("cors.allowed_origins", "auth.cookie_mode needs at least one allowed origin");
  if (mail.transport === "http" && !/^https?:\/\/./.test(mail.http_url))
    add("mail.http_url", 'expected an http(s) URL, since mail.transport is "http"');
  return problems;
}
