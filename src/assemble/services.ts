import { dataCallers } from "../admin/data-callers.js";
import { type Callers, createCallers } from "../auth/callers/callers.js";
import type { TakenCookies } from "../auth/callers/credential.js";
import { ProcessKeys } from "../auth/callers/process-keys.js";
import { createAccessTokens } from "../auth/sessions/access-token.js";
import { mapKeyring } from "../encoding/keyring.js";
import { addressUnit } from "../http/client-address.js";
import { UnsentBytes } from "../http/unsent-bytes.js";
import { failedRequest } from "../log/failed-request.js";
import { RecentRequests } from "../log/recent-requests.js";
import { createMeter } from "../metering/attempt.js";
import { Metrics } from "../metering/metrics.js";
import { createRecorder } from "../metering/recorder.js";
import { keyringCipher } from "../platform/keyring-cipher.js";
import { isMetered } from "../project/is-metered.js";
import { createProjectSource } from "../schema/project-source.js";
import { SharedPages } from "../sync/shared-pages.js";
import { Streams } from "../sync/streams.js";
import type { ApiServices } from "../tables/routes/api-request.js";
import type { AppOptions } from "./app-options.js";
import { createAuth } from "./auth.js";
import { deriveKeys } from "./keys.js";

/** What the server's routes, its upkeep and its log share. */
export type Services = Awaited<ReturnType<typeof createServices>>;

/** Makes, from what the runtime provides, everything that the routes stand on. */
export async function createServices(options: AppOptions) {
  const { config, platform } = options;
  const { database, clock, random, log } = platform;
  const keys = await deriveKeys(options.secrets);
  const cursors = { cipher: keyringCipher(await mapKeyring(keys.cursor, platform.cipher)), random };
  const tokens = createAccessTokens(keys.accessToken);
  const projects = createProjectSource(config, database, log, options.readRules);
  const sessionMaxAgeMs = config.auth.session_max_age_secs * 1000;
  const processKeys = new ProcessKeys(random);
  const callersBy = (cookies: TakenCookies): Callers =>
    createCallers({ database, clock, tokens, processKeys, cookies, sessionMaxAgeMs });
  const callers = callersBy({ access: config.auth.cookie_mode, console: false });
  const adminCallers = callersBy({ access: config.auth.cookie_mode, console: config.console.enabled });
  const metrics = new Metrics();
  const recorder = isMetered(config) ? createRecorder(platform.journal, platform) : null;
  const counted = metrics.receipt.bind(metrics);
  const meter = createMeter(recorder && { clock, random, recorder, counted });
  const failed = (error: unknown) => failedRequest(log, error);
  const api: ApiServices = {
    platform,
    config,
    callers,
    projects,
    cursors,
    meter,
    failed,
    clientOf: (c) => addressUnit(options.clientAddress(c.req.raw, c.env)),
    unsent: new UnsentBytes(platform.requestsVanish ? Number.POSITIVE_INFINITY : config.server.max_unsent_bytes),
    takesPreviews: false,
  };
  return {
    api,
    callers,
    /**
     * For `/admin/api/data`, where the rules of tables do not bind administrators and `project:backend` keys.
     * `dataCallers` finds out who asks, in the same round trip as the first statements of the request.
     */
    dataApi: { ...api, callers: dataCallers(adminCallers), takesPreviews: true } satisfies ApiServices,
    adminCallers,
    processKeys,
    auth: await createAuth(options, keys, tokens, projects),
    metrics,
    recorder,
    streams: new Streams(config.sync),
    sharedPages: new SharedPages(),
    recent: new RecentRequests(),
  };
}
