import type { Callers } from "../auth/callers/callers.js";
import type { Caller } from "../auth/callers/principal.js";
import type { AuthContext } from "../auth/context.js";
import type { RequestBody } from "../http/body.js";
import type { Refusal } from "../http/refusal.js";
import type { RecentRequests } from "../log/recent-requests.js";
import type { Database } from "../platform/database.js";
import type { Platform } from "../platform/platform.js";
import type { Problem } from "../problems/problem.js";
import type { Config } from "../project/config.js";
import type { LiveProject } from "../schema/live-project.js";
import type { Planner } from "../schema/plan/planner.js";
import type { ProjectSource } from "../schema/project-source.js";
import type { Cursors } from "../tables/list/list-response.js";
import type { PlannedStep } from "../wire/plan.js";

/** The services that all handlers under /admin/api use. */
export interface AdminServices {
  readonly platform: Platform;
  readonly config: Config;
  readonly cursors: Cursors;
  readonly projects: ProjectSource;
  readonly auth: AuthContext;
  readonly recent: RecentRequests;
  readonly surroundings: Surroundings;
  readonly planner: Planner;
  /** Null if the runtime reads no files. */
  readonly reload: Reload | null;
  /**
   * Reads the text of the svc.schema.yaml that was deployed with the server. It is the proposed schema where a request
   * has none in its body, and is shown beside the schema in force.
   */
  readonly readSchemaFile: () => Promise<string>;
}

/** What `GET /admin/api/settings` tells administrators of the runtime and of the environment variables. */
export interface Surroundings {
  readonly runtime: "node" | "worker";
  /** Whether an environment variable is set; an empty one counts as not set. */
  readonly isSet: (variable: string) => boolean;
}

/** Reads the project's files again. With `isDryRun` nothing is taken over. */
export type Reload = (options: { readonly isDryRun: boolean }) => Promise<ReloadOutcome>;

/**
 * How a reload ends. `problems`: nothing was taken over. Otherwise `applied` says whether the files differ from what was
 * served, and `waits` are the steps of the schema that wait for a person.
 */
export type ReloadOutcome =
  | { readonly problems: readonly Problem[] }
  | { readonly applied: boolean; readonly steps: readonly PlannedStep[]; readonly waits: readonly PlannedStep[] };

/** What a handler under /admin/api is given to answer a request. */
export interface AdminRequest {
  readonly request: Request;
  readonly body: RequestBody;
  readonly services: AdminServices;
  /** The id in the path; empty where the path has none. */
  readonly id: string;
  /** The caller, an administrator or a `project:backend` key: `adminRefusal` has refused all others. */
  readonly caller: Caller;
}

/** A handler that answers one endpoint under /admin/api. */
export type AdminHandler = (given: AdminRequest) => Promise<Response | Refusal>;

/** What the endpoints that tell how the server is doing use. */
export interface ServerServices {
  readonly database: Database;
  readonly config: Config;
  readonly callers: Callers;
  readonly projects: ProjectSource;
  /** Returns the metrics in Prometheus' text format. */
  readonly metricsText: () => string;
  /** Returns the text of a project's OpenAPI document. */
  readonly documentText: (project: LiveProject) => Promise<string>;
}

/** A handler of an endpoint that tells how the server is doing. */
export type ServerHandler = (given: {
  readonly request: Request;
  readonly services: ServerServices;
}) => Promise<Response | Refusal>;
