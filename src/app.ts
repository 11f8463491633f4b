import type { Context } from "hono";
import { adminRefusal } from "./admin/authorize.js";
import { consolePage, toPage } from "./admin/console/page.js";
import { consoleRoutes } from "./admin/console/routes.js";
import { dataCallers } from "./admin/data-callers.js";
import { adminRoutes } from "./admin/routes.js";
import type { Surroundings } from "./admin/services.js";
import { purge } from "./auth/accounts/purge.js";
import { createCallers } from "./auth/callers/callers.js";
import { consoleGuard, isOfOwnPages } from "./auth/callers/console-origin.js";
import type { TakenCookies } from "./auth/callers/credential.js";
import { identifiedBy } from "./auth/callers/identified-by.js";
import type { Caller } from "./auth/callers/principal.js";
import type { AuthContext } from "./auth/context.js";
import { MailAllowance } from "./auth/limits/mail-allowance.js";
import { RequestAllowance } from "./auth/limits/request-allowance.js";
import { PasswordThrottle } from "./auth/limits/throttle.js";
import { createLinkTokens } from "./auth/links/links.js";
import type { ProviderEndpoints } from "./auth/oauth/provider.js";
import { createProviders } from "./auth/oauth/providers.js";
import { authRoutes } from "./auth/routes/routes.js";
import { createAccessTokens } from "./auth/sessions/access-token.js";
import { crossSiteGuard } from "./auth/sessions/cross-site.js";
import { schemaVersionCheck } from "./auth/store/checks.js";
import { retireChanges } from "./changes/retention.js";
import { toHex } from "./encoding/hex.js";
import { type Keyring, mapKeyring } from "./encoding/keyring.js";
import { deriveBytes, type KeyPurpose } from "./encoding/secret-keys.js";
import { byMethod, refuse } from "./http/by-method.js";
import { addressUnit } from "./http/client-address.js";
import { cors } from "./http/cors.js";
import { loopbackHostsOnly } from "./http/loopback-hosts-only.js";
import type { OriginPolicy } from "./http/origin.js";
import { isRefusal, Refusal } from "./http/refusal.js";
import { everyAnswer, json } from "./http/respond.js";
import { type Fetch, router } from "./http/router.js";
import { strictTransportSecurity, transportSecurity } from "./http/transport-security.js";
import { failedRequest } from "./log/failed-request.js";
import { RecentRequests } from "./log/recent-requests.js";
import { createRequestLog } from "./log/request-log.js";
import { createRouteOf } from "./log/route-of.js";
import { createOutbox } from "./mail/outbox.js";
import { createMeter } from "./metering/attempt.js";
import { databaseJournal } from "./metering/database-journal.js";
import { Metrics } from "./metering/metrics.js";
import { createRecorder } from "./metering/recorder.js";
import { retireReceipts } from "./metering/retention.js";
import { openApi } from "./openapi/route.js";
import { operationRoutes } from "./operations/routes.js";
import type { ConsoleFiles } from "./platform/console-files.js";
import type { Database } from "./platform/database.js";
import { keyringCipher } from "./platform/keyring-cipher.js";
import type { Platform } from "./platform/platform.js";
import type { Config } from "./project/config.js";
import { isMetered } from "./project/is-metered.js";
import { createProjectSource } from "./schema/project-source.js";
import { syncEndpoints } from "./sync/routes.js";
import { SharedPages } from "./sync/shared-pages.js";
import { Streams } from "./sync/streams.js";
import type { Cursors } from "./tables/list/list-response.js";
import type { ApiServices } from "./tables/routes/api-request.js";
import { tableRoutes } from "./tables/routes/routes.js";
import { retireKept } from "./tables/together/retention.js";
import { retireMutations } from "./writes/retention.js";
import { writesEndpoints } from "./writes/routes.js";

type Env = { Variables: { caller: Caller } };

/** What the entry module of a runtime (Node or Workers) passes to `createApp`. */
export interface AppOptions {
  readonly config: Config;
  readonly platform: Platform;
  /**
   * The server's secret, from which all keys are derived, and while it is being changed, the previous one, too. Each
   * has at least 32 bytes.
   */
  readonly secrets: Keyring<Uint8Array<ArrayBuffer>>;
  /**
   * Whether the server's secret is the insecure one for development. Then only requests are answered whose host is a
   * loopback address or `localhost`.
   */
  readonly loopbackOnly: boolean;
  /** Reads the text of the svc.schema.yaml that was deployed with the server. */
  readonly readSchemaFile: () => Promise<string>;
  /**
   * Returns the IP address that a request comes from, as the runtime knows it. `env` is what the runtime passed along
   * with the request.
   */
  readonly clientAddress: (request: Request, env: unknown) => string;
  /**
   * The URL under which clients reach the server, without a slash at the end. Links in mails and callback URLs of
   * sign-in providers begin with it, never with a request's Host header, which the caller can choose.
   */
  readonly publicBaseUrl: string;
  /** The runtime, and which environment variables are set, as `GET /admin/api/settings` shows them. */
  readonly surroundings: Surroundings;
  /** The files of the console (the web page for administrators); null where the runtime serves them by itself. */
  readonly consoleFiles: ConsoleFiles | null;
  /**
   * The URL of a separate address that serves the console and `/admin/api`, without a slash at the end; null where the
   * main address serves them. Requests to a separate address are answered by the app's `consoleFetch`, and the app's
   * `fetch` then has none of these routes.
   */
  readonly consoleUrl: string | null;
  /**
   * Adds a header to a response. `env` is what the runtime passed along with the request. Under Node, the header is set
   * on the socket's response, because modifying the Response object costs a tenth of the time of reading a row.
   */
  readonly addHeader: (
    response: Response,
    header: readonly [name: string, value: string],
    env: unknown,
  ) => void;
  /** Replaces the URLs of sign-in providers; only tests set it. */
  readonly providerEndpoints?: ProviderEndpoints;
}

/** Background work that the runtime runs at certain times, independent of requests. */
export interface Upkeep {
  /** To be called once at start: sends mails that an earlier process left unsent. */
  resumeMail(): Promise<void>;
  /** To be called every few seconds: sends mails that are due. */
  deliverMail(): Promise<void>;
  /**
   * To be called every minute or so: deletes what has expired, and receipts (records of what requests have cost) and
   * entries of the log of changes after their retention periods.
   */
  purge(): Promise<void>;
  /**
   * To be called every few seconds: writes receipts (records of what requests have cost) that wait in memory to the
   * journal, and moves those in the journal to the database.
   */
  collectUsage(): Promise<void>;
  /**
   * To be called once at the end: lets the mails that are being sent finish, sends no others, and stores the receipts
   * (records of what requests have cost) that wait in memory.
   */
  finish(): Promise<void>;
}

/**
 * Builds the function that answers the server's requests, and the server's background work, from what the runtime
 * provides. They are the same for every runtime; `docs/architecture.md` follows a request through them.
 */
export async function createApp(options: AppOptions) {
  const { config, platform, secrets, loopbackOnly, readSchemaFile, publicBaseUrl } = options;
  const { database, clock, log } = platform;
  const projects = createProjectSource(config, database, log);
  const keysFor = (purpose: KeyPurpose) => mapKeyring(secrets, (secret) => deriveBytes(secret, purpose));
  const cipher = keyringCipher(await mapKeyring(await keysFor("cursor"), platform.cipher));
  const cursors: Cursors = { cipher, random: platform.random };
  const tokens = createAccessTokens(await keysFor("access token"));

  const callersBy = (cookies: TakenCookies) =>
    createCallers({
      database,
      clock,
      tokens,
      cookies,
      sessionMaxAgeMs: config.auth.session_max_age_secs * 1000,
    });
  const callers = callersBy({ access: config.auth.cookie_mode, console: false });
  const adminCallers = callersBy({ access: config.auth.cookie_mode, console: config.console.enabled });
  const bodyBytesMax = config.api.max_body_bytes;
  const identified = identifiedBy(callers, bodyBytesMax);
  const adminIdentified = identifiedBy(adminCallers, bodyBytesMax);

  const metrics = new Metrics();
  const recorder = isMetered(config) ? createRecorder(platform.journal, platform) : null;
  const counted = metrics.receipt.bind(metrics);
  const meter = createMeter(recorder && { clock, random: platform.random, recorder, counted });

  const deliverDue = () => outbox().deliverDue();
  const linkTokens = await createLinkTokens(await keysFor("link"));
  const throttlePeppers = await mapKeyring(await keysFor("throttle"), toHex);
  const auth: AuthContext = {
    platform,
    config,
    tokens,
    successorKeys: await keysFor("refresh successor"),
    throttle: new PasswordThrottle(database, config.auth.throttle, throttlePeppers),
    mailAllowance: new MailAllowance(config.auth.throttle, throttlePeppers),
    requestAllowance: new RequestAllowance(database, config.auth.throttle, throttlePeppers),
    linkTokens,
    deliverMail: () => platform.defer(deliverDue),
    publicBaseUrl,
    providers: createProviders(platform, options.providerEndpoints ?? {}),
    oauthStateKeys: await keysFor("oauth state"),
    settings: async (known) => {
      const [version] = known ?? (await database.query([schemaVersionCheck()]))[0]!.rows[0]!;
      const project = await projects.current(version as number | null);
      return isRefusal(project) ? project : { ...project.schema.auth, origins: project.schema.origins };
    },
  };
  const newOutbox = () =>
    createOutbox({ platform, linkTokens, settings: auth.settings, publicBaseUrl, from: config.mail.from });
  const onlyOutbox = newOutbox();
  // The outbox (the queue of mails) keeps in memory which mails are being sent. A runtime that may cancel requests in
  // the middle could leave a mail marked so forever. There, each use gets a new outbox. Mails are not sent twice even
  // so: a process that sends a mail claims it in the database for some time (a lease).
  const outbox = () => (platform.requestsVanish ? newOutbox() : onlyOutbox);

  const origins: OriginPolicy = {
    allowed: new Set(config.cors.allowed_origins),
    anyAllowed: config.cors.allow_any_origin,
    own: new URL(publicBaseUrl).origin,
    trustProxy: config.server.trust_proxy,
    cookies: config.auth.cookie_mode,
  };
  const clientOf = (c: Context) => addressUnit(options.clientAddress(c.req.raw, c.env));
  const app = router<Env>();
  if (origins.cookies) app.use(crossSiteGuard(origins));
  app.all("/health", byMethod({ GET: () => health(database) }));
  app.route("/auth", authRoutes(auth, callers, identified, clientOf));

  // Where the console has an address of its own, no page of another origin may use what is served there, not even one
  // that `cors.allowed_origins` of svc.toml allows.
  const ownConsole = options.consoleUrl === null ? null : router<Env>();
  const consoleOrigins: OriginPolicy =
    options.consoleUrl === null
      ? origins
      : { ...origins, allowed: new Set(), anyAllowed: false, own: new URL(options.consoleUrl).origin };
  if (ownConsole !== null && origins.cookies) ownConsole.use(crossSiteGuard(consoleOrigins));
  const admin = ownConsole ?? app;
  if (config.console.enabled) {
    const guard = consoleGuard(consoleOrigins);
    admin.all("/console/", toPage);
    admin.route("/console", consolePage(options.consoleFiles));
    const services = { auth, own: consoleOrigins, addressOf: clientOf, guard, identified: adminIdentified };
    admin.route("/admin/api", consoleRoutes(services));
    admin.use("/admin/api/*", guard);
  }
  const failed = (error: unknown) => failedRequest(log, error);
  const streams = new Streams(config.sync);
  const api: ApiServices = {
    platform,
    config,
    callers,
    projects,
    cursors,
    meter,
    failed,
    takesPreviews: false,
  };
  const sync = { streams, sharedPages: new SharedPages(), counts: metrics, clientOf };
  // Under `/admin/api/data`, administrators and `project:backend` keys work with rows without being bound by the rules
  // of tables. `dataCallers` finds out who asks, in the same round trip as the first statements of the request.
  const dataApi: ApiServices = { ...api, callers: dataCallers(adminCallers), takesPreviews: true };
  const dataEndpoints = new Map([...syncEndpoints({ ...dataApi, ...sync }), ...writesEndpoints(dataApi)]);
  // The endpoint `push` is not offered under `/admin/api/data`: it is for applications that write while they are
  // offline.
  dataEndpoints.delete("push");
  admin.route("/admin/api/data", tableRoutes(dataApi, dataEndpoints));
  admin.route("/admin/api/operations", operationRoutes(dataApi));
  admin.use("/admin/api/*", adminIdentified);
  const recent = new RecentRequests();
  const { surroundings } = options;
  const adminServices = { platform, config, projects, readSchemaFile, cursors, auth, recent, surroundings };
  admin.route("/admin/api", adminRoutes(adminServices));
  app.get("/metrics", identified, (c) => {
    const refusal = adminRefusal(c.var.caller);
    if (refusal !== null) return refusal.toResponse();
    const headers = { ...everyAnswer, "Content-Type": "text/plain; version=0.0.4; charset=utf-8" };
    return new Response(metrics.render(recorder?.state() ?? null, streams.size), { headers });
  });
  app.all("/metrics", refuse("GET"));
  const document = openApi({ callers, projects, config, publicBaseUrl });
  app.all("/openapi.json", byMethod({ GET: (c) => document(c.req.raw) }));
  const endpoints = new Map([...syncEndpoints({ ...api, ...sync }), ...writesEndpoints(api)]);
  app.route("/api", tableRoutes(api, endpoints));
  app.route("/ops", operationRoutes(api));
  const routers = ownConsole === null ? [app] : [app, ownConsole];
  for (const each of routers) {
    each.notFound(() => new Refusal("not_found", "no such resource").toResponse());
    each.onError((error) => failed(error).toResponse());
  }
  const requestLog = createRequestLog({
    settings: config.log,
    clock,
    random: platform.random,
    log,
    routeOf: createRouteOf(routers.flatMap(({ routes }) => routes.map(({ path }) => path))),
    clientAddress: options.clientAddress,
    recent,
  });
  /**
   * Lists the tables of the schema in force that keep a history of their rows, each with the number of days for which
   * it keeps it. The list is empty where no schema can be served.
   */
  const keptLogs = async () => {
    const [version] = (await database.query([schemaVersionCheck()]))[0]!.rows[0]!;
    const project = await projects.current(version as number | null);
    if (isRefusal(project)) return [];
    return [...project.schema.tables.values()].flatMap(({ name, historyDays }) =>
      historyDays === null ? [] : [{ table: name, days: historyDays }],
    );
  };
  const upkeep: Upkeep = {
    resumeMail: async () => {
      await outbox().makeAllDue();
      await outbox().deliverDue();
    },
    deliverMail: deliverDue,
    purge: async () => {
      await purge(platform, config);
      // The journal's receipts are moved to the database before old receipts are deleted. The order matters where a
      // receipt is in the journal twice: the second copy is recognised as a duplicate only while the first is in the
      // database, and deleting old receipts may remove that one.
      await platform.journal.collect();
      await retireReceipts(platform, config.usage.retention_days);
      await retireChanges(database, await keptLogs(), clock.now());
      await retireKept(platform);
      await retireMutations(platform);
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
  const answering = (router: { readonly fetch: Fetch }, policy: OriginPolicy): Fetch => {
    const crossOrigin = cors(policy, isOfOwnPages, router.fetch);
    const answer = loopbackOnly ? loopbackHostsOnly(crossOrigin) : crossOrigin;
    const isStrict = transportSecurity(policy);
    return async (request, ...rest) => {
      const from = clock.elapsed();
      const response = await answer(request, ...rest);
      if (isStrict(request)) options.addHeader(response, strictTransportSecurity, rest[0]);
      const ms = clock.elapsed() - from;
      metrics.request(request.method, request.url, response.status, ms);
      requestLog(request, rest[0], response, ms);
      return response;
    };
  };
  return {
    fetch: answering(app, origins),
    /** Answers requests at the console's own address (`AppOptions.consoleUrl`); null where there is none. */
    consoleFetch: ownConsole && answering(ownConsole, consoleOrigins),
    upkeep,
    endStreams: () => streams.end(),
  };
}

/** `GET /health`: 200 if the database answers, else 503. */
async function health(database: Database): Promise<Response> {
  try {
    await database.query([{ sql: "SELECT 1", params: [] }]);
    return json({ status: "ok" });
  } catch {
    return new Refusal("unavailable", "the database does not answer").toResponse();
  }
}
