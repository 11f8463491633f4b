import type { Context, MiddlewareHandler } from "hono";
import { adminRefusal } from "./admin/authorize.js";
import { adminRoutes } from "./admin/routes.js";
import { createAccessTokens } from "./auth/access-token.js";
import { createCallers } from "./auth/callers.js";
import type { AuthContext } from "./auth/context.js";
import { crossSiteGuard } from "./auth/cross-site.js";
import { createLinkTokens } from "./auth/links.js";
import { MailAllowance } from "./auth/mail-allowance.js";
import type { ProviderEndpoints } from "./auth/oauth/provider.js";
import { createProviders } from "./auth/oauth/providers.js";
import type { Caller } from "./auth/principal.js";
import { purge } from "./auth/purge.js";
import { authRoutes } from "./auth/routes/routes.js";
import { schemaVersionCheck } from "./auth/store/checks.js";
import { PasswordThrottle } from "./auth/throttle.js";
import { toHex } from "./encoding/hex.js";
import { deriveBytes } from "./encoding/secret-keys.js";
import { readAhead } from "./http/body.js";
import { byMethod, refuse } from "./http/by-method.js";
import { addressUnit } from "./http/client-address.js";
import { cors } from "./http/cors.js";
import { isLoopbackHost } from "./http/loopback.js";
import type { OriginPolicy } from "./http/origin.js";
import { isRefusal, Refusal } from "./http/refusal.js";
import { everyAnswer, json } from "./http/respond.js";
import { type Fetch, router } from "./http/router.js";
import { strictTransportSecurity, transportSecurity } from "./http/transport-security.js";
import { createOutbox } from "./mail/outbox.js";
import { createMeter } from "./metering/attempt.js";
import { databaseJournal } from "./metering/database-journal.js";
import { Metrics } from "./metering/metrics.js";
import { createRecorder } from "./metering/recorder.js";
import { retireReceipts } from "./metering/retention.js";
import { openApi } from "./openapi/route.js";
import { type Database, UnavailableError } from "./platform/database.js";
import { HasherBusyError, type Platform } from "./platform/platform.js";
import type { Config } from "./project/config.js";
import { isMetered } from "./project/is-metered.js";
import { createProjectSource } from "./schema/project-source.js";
import type { Cursors } from "./tables/list/list-response.js";
import { tableRoutes } from "./tables/routes.js";

type Env = { Variables: { caller: Caller } };

export interface AppOptions {
  readonly config: Config;
  readonly platform: Platform;
  /** At least 32 bytes. */
  readonly secret: Uint8Array<ArrayBuffer>;
  /** The secret is the insecure one of development: only requests with a loopback Host are answered. */
  readonly loopbackOnly: boolean;
  /** svc.schema.yaml as it lies beside the server. */
  readonly readSchemaFile: () => Promise<string>;
  /** The address that a request comes from, as the runtime knows it. */
  readonly clientAddress: (c: Context) => string;
  /**
   * The canonical address that the server is reached at, without a slash at the end: links and provider callbacks are
   * made of it, never of a request's Host.
   */
  readonly publicBaseUrl: string;
  /**
   * Adds a header to an answer; `env` is what the runtime gave beside the request. Under Node it goes to the socket's response,
   * as a Response that is touched costs a tenth of a point read.
   */
  readonly addHeader: (
    response: Response,
    header: readonly [name: string, value: string],
    env: unknown,
  ) => void;
  /** For tests alone: sign-in providers of their own. */
  readonly providerEndpoints?: ProviderEndpoints;
}

/** What the runtime calls now and then, beside the requests. */
export interface Upkeep {
  /** Once, at start: mails that an earlier process left go out. */
  resumeMail(): Promise<void>;
  /** Every few seconds. */
  deliverMail(): Promise<void>;
  /** Every minute or so. */
  purge(): Promise<void>;
  /** Every few seconds: receipts that waited are recorded, and recorded ones can be exported. */
  collectUsage(): Promise<void>;
  /** Once, at the end: begins nothing more, and waits for the mails that are being sent. */
  finish(): Promise<void>;
}

/** The whole router, and what has to be done beside it. It reads the same under every runtime. */
export async function createApp(options: AppOptions) {
  const { config, platform, secret, loopbackOnly, readSchemaFile, publicBaseUrl } = options;
  const { database, clock, log } = platform;
  const projects = createProjectSource(config.rules, database, log);
  const cipher = platform.cipher(await deriveBytes(secret, "cursor"));
  const cursors: Cursors = { cipher, random: platform.random };
  const tokens = createAccessTokens(await deriveBytes(secret, "access token"));

  const callers = createCallers({ database, clock, tokens, cookieMode: config.auth.cookie_mode });
  const identified: MiddlewareHandler<Env> = async (c, next) => {
    await readAhead(c.req.raw, config.api.max_body_bytes);
    const identity = await callers.identify(c.req.raw.headers);
    if (isRefusal(identity)) return identity.toResponse();
    c.set("caller", identity.caller);
    await next();
    return undefined;
  };

  const metrics = new Metrics();
  const recorder = isMetered(config) ? createRecorder(platform.journal, platform) : null;
  const counted = metrics.receipt.bind(metrics);
  const meter = createMeter(recorder && { clock, random: platform.random, recorder, counted });

  const deliverDue = () => outbox().deliverDue();
  const linkTokens = await createLinkTokens(await deriveBytes(secret, "link"));
  const throttlePepper = toHex(await deriveBytes(secret, "throttle"));
  const auth: AuthContext = {
    platform,
    config,
    tokens,
    successorKey: await deriveBytes(secret, "refresh successor"),
    throttle: new PasswordThrottle(database, config.auth.throttle, throttlePepper),
    mailAllowance: new MailAllowance(config.auth.throttle, throttlePepper),
    linkTokens,
    deliverMail: () => platform.defer(deliverDue),
    publicBaseUrl,
    providers: createProviders(platform, options.providerEndpoints ?? {}),
    oauthStateKey: await deriveBytes(secret, "oauth state"),
    settings: async (known) => {
      const [version] = known ?? (await database.query([schemaVersionCheck()]))[0]!.rows[0]!;
      const project = await projects.current(version as number | null);
      return isRefusal(project) ? project : { ...project.schema.auth, origins: project.schema.origins };
    },
  };
  const newOutbox = () =>
    createOutbox({ platform, linkTokens, settings: auth.settings, publicBaseUrl, from: config.mail.from });
  const onlyOutbox = newOutbox();
  // What is in hand is also noted in the database, which is enough where nothing in memory can be relied on.
  const outbox = () => (platform.requestsVanish ? newOutbox() : onlyOutbox);

  const origins: OriginPolicy = {
    allowed: new Set(config.cors.allowed_origins),
    anyAllowed: config.cors.allow_any_origin,
    own: new URL(publicBaseUrl).origin,
    trustProxy: config.server.trust_proxy,
    cookies: config.auth.cookie_mode,
  };
  const app = router<Env>();
  if (origins.cookies) app.use(crossSiteGuard(origins));
  app.all("/health", byMethod({ GET: () => health(database) }));
  app.route(
    "/auth",
    authRoutes(auth, callers, identified, (c) => addressUnit(options.clientAddress(c))),
  );
  app.use("/admin/api/*", identified);
  app.route("/admin/api", adminRoutes({ platform, config, readSchemaFile, cursors }));
  app.get("/metrics", identified, (c) => {
    const refusal = adminRefusal(c.var.caller);
    if (refusal !== null) return refusal.toResponse();
    const headers = { ...everyAnswer, "Content-Type": "text/plain; version=0.0.4; charset=utf-8" };
    return new Response(metrics.render(recorder?.state() ?? null), { headers });
  });
  app.all("/metrics", refuse("GET"));
  const document = openApi({ callers, projects, config, publicBaseUrl });
  app.all("/openapi.json", byMethod({ GET: (c) => document(c.req.raw) }));
  const failed = (error: unknown): Refusal => {
    if (error instanceof UnavailableError || error instanceof HasherBusyError)
      return new Refusal("unavailable", "the server is too busy or its storage unavailable");
    log.error("a request failed", error);
    return new Refusal("internal", "something went wrong");
  };
  app.route("/api", tableRoutes({ platform, config, callers, projects, cursors, meter, failed }));
  app.notFound(() => new Refusal("not_found", "no such resource").toResponse());
  app.onError((error) => failed(error).toResponse());
  const upkeep: Upkeep = {
    resumeMail: async () => {
      await outbox().makeAllDue();
      await outbox().deliverDue();
    },
    deliverMail: deliverDue,
    purge: async () => {
      await purge(platform, config);
      // What is deleted is known no more: whatever of it comes once more has to come before.
      await platform.journal.collect();
      await retireReceipts(platform, config.usage.retention_days);
    },
    collectUsage: async () => {
      if (recorder === null) return;
      await recorder.retry();
      await platform.journal.collect();
    },
    finish: async () => {
      await outbox().finish();
      await recorder?.finish(databaseJournal(database));
    },
  };
  const crossOrigin = cors(origins, app.fetch);
  const answer = loopbackOnly ? loopbackHostsOnly(crossOrigin) : crossOrigin;
  const isStrict = transportSecurity(origins);
  const fetch: Fetch = async (request, ...rest) => {
    const from = clock.elapsed();
    const response = await answer(request, ...rest);
    if (isStrict(request)) options.addHeader(response, strictTransportSecurity, rest[0]);
    metrics.request(request.method, request.url, response.status, clock.elapsed() - from);
    return response;
  };
  return { fetch, upkeep };
}

/** Whether the database answers. */
async function health(database: Database): Promise<Response> {
  try {
    await database.query([{ sql: "SELECT 1", params: [] }]);
    return json({ status: "ok" });
  } catch {
    return new Refusal("unavailable", "the database does not answer").toResponse();
  }
}

/** A page that rebinds its own name to a loopback address still sends that name. */
function loopbackHostsOnly(answer: Fetch): Fetch {
  return (request, ...rest) =>
    isLoopbackHost(new URL(request.url).hostname)
      ? answer(request, ...rest)
      : new Refusal("forbidden", "the development secret serves loopback hosts only").toResponse();
}
