import * as v from "valibot";
import { databaseUrlProblem } from "./database-url.js";
import { isOrigin } from "./is-origin.js";
import { mapOf, mapWith } from "./valibot-problems.js";

/** svc.toml after parsing: every key present, with its default (docs/reference/configuration.md). Times are seconds, sizes bytes. */
export type Config = v.InferOutput<typeof configSchema>;

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

/** The keys of svc.toml. What is said of each here is its row in docs/reference/configuration.md: `npm run docs` writes that. */
export const configSchema = mapWith({
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
