import { dataCallers } from "../admin/data-callers.js";
import { type Callers, createCallers } from "../auth/callers/callers.js";
import type { TakenCookies } from "../auth/callers/credential.js";
import { createAccessTokens } from "../auth/sessions/access-token.js";
import { mapKeyring } from "../encoding/keyring.js";
import { addressUnit } from "../http/client-address.js";
import { failedRequest } from "../log/failed-request.js";
import { createMeter } from "../metering/attempt.js";
import { keyringCipher } from "../platform/keyring-cipher.js";
import type { ApiServices } from "../tables/routes/api-request.js";
import type { AppOptions } from "./app-options.js";
import { createAuth } from "./auth.js";
import { deriveKeys } from "./keys.js";
import { createLasting } from "./lasting.js";

/** What the server's routes, its upkeep and its log share. */
export type Services = Awaited<ReturnType<typeof createServices>>;

/** Makes, from what the runtime provides, everything that the routes stand on. */
export async function createServices(options: AppOptions) {
  const { config, platform } = options;
  const { database, clock, random, log } = platform;
  const lasting = options.lasting ?? createLasting(options);
  const { projects, metrics, recorder, processKeys, unsent } = lasting;
  const keys = await deriveKeys(options.secrets);
  const cursors = { cipher: keyringCipher(await mapKeyring(keys.cursor, platform.cipher)), random };
  const tokens = createAccessTokens(keys.accessToken);
  const sessionMaxAgeMs = config.auth.session_max_age_secs * 1000;
  const callersBy = (cookies: TakenCookies): Callers =>
    createCallers({ database, clock, tokens, processKeys, cookies, sessionMaxAgeMs });
  const callers = callersBy({ access: config.auth.cookie_mode, console: false });
  const adminCallers = callersBy({ access: config.auth.cookie_mode, console: config.console.enabled });
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
    unsent,
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
    auth: await createAuth(options, keys, tokens, projects),
    ...lasting,
    lasting,
  };
}
