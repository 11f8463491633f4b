import { accountOf, anonymous, type Caller } from "../auth/callers/principal.js";
import { isRefusal, Refusal } from "../http/refusal.js";
import { router } from "../http/router.js";
import { UnsentBytes } from "../http/unsent-bytes.js";
import { failedRequest } from "../log/failed-request.js";
import { createMeter } from "../metering/attempt.js";
import { operationRoutes } from "../operations/routes.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import type { LiveProject } from "../schema/live-project.js";
import type { ApiServices } from "../tables/routes/api-request.js";
import { tableRoutes } from "../tables/routes/routes.js";
import type { FixtureUser } from "./case-file.js";

/** `/api` and `/ops` of a project, for callers who need no credentials. */
export interface CaseServer {
  /** Whose rules requests are answered by. */
  project: LiveProject;
  /** `as` is the name of one of the fixtures' users, null for an anonymous caller. */
  answer(as: string | null, request: Request): Promise<Response>;
}

const header = "Svc-As";

/** Serves the project to the users of the fixtures. Requests are not metered. */
export function caseServer(
  project: LiveProject,
  users: readonly FixtureUser[],
  platform: Platform,
  { usage, ...config }: Config,
): CaseServer {
  const byName = new Map(users.map((user) => [user.name, user]));
  const services: ApiServices = {
    platform,
    config: { ...config, usage: { ...usage, enabled: false } },
    callers: {
      run: async (headers, act) => {
        const caller = callerOf(headers.get(header), byName);
        if (isRefusal(caller)) return caller;
        return act({ caller, by: caller, schemaVersion: server.project.version }, platform.database);
      },
    },
    projects: {
      current: () => server.project,
      adopt: async () => {},
      serving: () => server.project.source,
      sources: async () => [server.project.source],
    },
    cursors: { cipher: platform.cipher(platform.random.bytes(32)), random: platform.random },
    meter: createMeter(null),
    failed: (error) => failedRequest(platform.log, error),
    clientOf: () => "local",
    unsent: new UnsentBytes(Number.POSITIVE_INFINITY),
    takesPreviews: false,
  };
  const app = router();
  app.route("/api", tableRoutes(services, new Map()));
  app.route("/ops", operationRoutes(services));
  app.notFound(() => new Refusal("not_found", "no such resource").toResponse());
  app.onError((error) => services.failed(error).toResponse());
  const server: CaseServer = {
    project,
    answer: async (as, request) => {
      if (as !== null) request.headers.set(header, encodeURIComponent(as));
      return app.request(request);
    },
  };
  return server;
}

function callerOf(as: string | null, users: ReadonlyMap<string, FixtureUser>): Caller | Refusal {
  if (as === null) return anonymous;
  const user = users.get(decodeURIComponent(as))!;
  const { name: id, email, role, emailVerified, disabled } = user;
  const caller: Caller = { kind: "user", id, email, role, emailVerified, sessionId: "" };
  return disabled
    ? new Refusal("unauthorized", "the user is disabled", { facts: { principal: accountOf(caller) } })
    : caller;
}
