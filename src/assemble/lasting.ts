import { ProcessKeys } from "../auth/callers/process-keys.js";
import { UnsentBytes } from "../http/unsent-bytes.js";
import { RecentRequests } from "../log/recent-requests.js";
import { Metrics } from "../metering/metrics.js";
import { createRecorder } from "../metering/recorder.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import { isMetered } from "../project/is-metered.js";
import { createProjectSource, type ReadRules } from "../schema/project-source.js";
import { SharedPages } from "../sync/shared-pages.js";
import { Streams } from "../sync/streams.js";

/**
 * What lasts as long as the process, while a reload exchanges the app for one with other settings: the project that
 * requests and streams are served with, and all that is counted.
 */
export type Lasting = ReturnType<typeof createLasting>;

/** What it is made of, as an app is. */
interface LastingOptions {
  readonly config: Config;
  readonly platform: Platform;
  readonly readRules?: ReadRules;
}

/** Makes it for the first app of a process. */
export function createLasting({ config, platform, readRules }: LastingOptions) {
  const { database, log, random, journal } = platform;
  return {
    projects: createProjectSource(config, database, log, readRules),
    metrics: new Metrics(),
    recorder: isMetered(config) ? createRecorder(journal, platform) : null,
    streams: new Streams(config.sync),
    sharedPages: new SharedPages(),
    recent: new RecentRequests(),
    unsent: new UnsentBytes(unsentBytesMax({ config, platform })),
    processKeys: new ProcessKeys(random),
  };
}

/**
 * Lets what lasts follow the bounds of another app, once that app takes over. Rules are taken over by
 * `ProjectSource.adopt`.
 */
export function takeBounds({ streams, unsent }: Lasting, options: Pick<LastingOptions, "config" | "platform">): void {
  streams.bounds = options.config.sync;
  unsent.max = unsentBytesMax(options);
}

function unsentBytesMax({ config, platform }: Pick<LastingOptions, "config" | "platform">): number {
  return platform.requestsVanish ? Number.POSITIVE_INFINITY : config.server.max_unsent_bytes;
}
