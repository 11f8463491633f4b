import { callbackUrl } from "../auth/oauth/providers.js";
import { isRefusal, type Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import { release } from "../platform/release.js";
import type { Config } from "../project/config.js";
import { data } from "../wire/schema.js";
import { type SettingsInForce, type ShownSettings, settingsInForce } from "../wire/settings.js";
import { type AdminEndpoint, administrators, plainErrors } from "./endpoint.js";
import type { AdminRequest, Surroundings } from "./services.js";

/**
 * How the answer shows a setting. `value`: as it is. `variable`: the setting is the name of an environment variable,
 * shown with whether that is set. `secret`: only whether there is one. `url`: only scheme and host, because the rest
 * may hold a password or a token.
 */
type SettingDisplay = "value" | "variable" | "secret" | "url";

type Sections = Omit<Config, "rules" | "conditions" | "places">;
type ShownKeys<Section> = {
  readonly [Key in keyof Section]-?: Section[Key] extends string | number | boolean | readonly string[]
    ? SettingDisplay
    : ShownKeys<Section[Key]>;
};

/**
 * How each setting of svc.toml is shown; the rules are not settings. A setting without an entry would not be shown, so
 * the type demands an entry for each.
 */
const shownKeys: ShownKeys<Sections> = {
  server: {
    host: "value",
    port: "value",
    tls_cert: "value",
    tls_key: "value",
    trust_proxy: "value",
    max_connections: "value",
    max_unsent_bytes: "value",
    second: "value",
    serve_dir: "value",
    fallback: "value",
  },
  database: { url: "url", auth_token_env: "variable", synchronous: "value" },
  schema: { auto_apply: "value", auto_apply_max_rows: "value" },
  auth: {
    jwt_secret_env: "variable",
    jwt_previous_secret_env: "variable",
    allow_insecure_dev_secret: "value",
    dev_secret: "secret",
    access_token_ttl_secs: "value",
    refresh_token_ttl_secs: "value",
    session_max_age_secs: "value",
    refresh_token_rotation_grace_secs: "value",
    password_min_length: "value",
    cookie_mode: "value",
    cookie_secure: "value",
    cookie_tokens_in_body: "value",
    public_base_url: "value",
    throttle: {
      enabled: "value",
      max_failures: "value",
      max_failures_per_address: "value",
      max_failures_per_account: "value",
      window_secs: "value",
      max_registrations_per_address: "value",
      max_mails_per_address: "value",
    },
  },
  console: { enabled: "value", listen: "value" },
  cors: { allowed_origins: "value", allow_any_origin: "value" },
  api: {
    scan_limit: "value",
    deadline_ms: "value",
    key_deadline_ms: "value",
    max_body_bytes: "value",
    max_page_bytes: "value",
    require_ways: "value",
    public_openapi: "value",
  },
  sync: {
    max_streams: "value",
    max_streams_per_session: "value",
    max_streams_per_user: "value",
    max_streams_per_key: "value",
    max_streams_per_address: "value",
  },
  usage: {
    enabled: "value",
    row_metering_enabled: "value",
    journal_dir: "value",
    journal_max_bytes: "value",
    retention_days: "value",
  },
  mail: {
    transport: "value",
    from: "value",
    log_dir: "value",
    smtp_url_env: "variable",
    http_url: "url",
    http_token_env: "variable",
  },
  log: { format: "value", level: "value", addresses: "value" },
};

/**
 * GET /admin/api/settings: shows the settings in force, and no secret
 * (docs/reference/configuration.md#settings-in-force).
 */
export const getSettingsEndpoint: AdminEndpoint = {
  method: "GET",
  path: "/admin/api/settings",
  summary: "The settings in force, without secrets",
  callers: administrators,
  answers: { 200: data(settingsInForce) },
  errors: plainErrors,
  needs: "session",
  handle: getSettings,
};

async function getSettings({ services }: AdminRequest): Promise<Response | Refusal> {
  const { config, auth, surroundings } = services;
  const found = await auth.settings();
  if (isRefusal(found)) return found;
  const providers = [];
  for (const provider of new Set(found.providers))
    providers.push({
      provider,
      callback_url: callbackUrl(auth.publicBaseUrl, provider),
      has_credentials: (await auth.providers.connect(provider)) !== null,
    });
  const settings = shownOf(config, shownKeys, surroundings) as SettingsInForce["settings"];
  const shown: SettingsInForce = { settings, providers, release, runtime: surroundings.runtime };
  return json({ data: shown });
}

/** Says for a tree of settings how each of them is shown. A section of settings is a subtree. */
interface ShownTree {
  readonly [key: string]: SettingDisplay | ShownTree;
}

function shownOf(settings: object, keys: ShownTree, surroundings: Surroundings): ShownSettings {
  const values = settings as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(keys).map(([key, how]) => [
      key,
      typeof how === "string"
        ? shownValue(values[key], how, surroundings)
        : shownOf(values[key] as object, how, surroundings),
    ]),
  );
}

function shownValue(value: unknown, how: SettingDisplay, { isSet }: Surroundings): ShownSettings[string] {
  switch (how) {
    case "value":
      return value as ShownSettings[string];
    case "variable":
      return { variable: value as string, is_set: isSet(value as string) };
    case "secret":
      return { is_set: value !== "" };
    case "url":
      return withoutSecrets(value as string);
  }
}

/**
 * Removes from a URL what may be secret: only its scheme and host are left. A `file:` URL is returned whole; a text
 * that is no URL becomes empty.
 */
function withoutSecrets(url: string): string {
  if (url === "" || url.startsWith("file:")) return url;
  if (!URL.canParse(url)) return "";
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
