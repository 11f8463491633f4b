import type { AuthContext } from "../auth/context.js";
import type { Caller } from "../auth/principal.js";
import type { Refusal } from "../http/refusal.js";
import type { RecentRequests } from "../log/recent-requests.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import type { ProjectSource } from "../schema/project-source.js";
import type { Cursors } from "../tables/list/list-response.js";

/** What the handlers under /admin/api share. */
export interface AdminServices {
  readonly platform: Platform;
  readonly config: Config;
  readonly cursors: Cursors;
  readonly projects: ProjectSource;
  readonly auth: AuthContext;
  readonly recent: RecentRequests;
  readonly surroundings: Surroundings;
  /** Reads the svc.schema.yaml beside the server, for a request without a body. */
  readonly readSchemaFile: () => Promise<string>;
}

/** What the server runs in, as far as administrators are told. */
export interface Surroundings {
  readonly runtime: "node" | "worker";
  /** Whether a variable of the environment is set; one that is empty is not. */
  readonly isSet: (variable: string) => boolean;
}

/** What a handler under /admin/api is given. */
export interface AdminRequest {
  readonly request: Request;
  readonly services: AdminServices;
  /** The id in the path; empty where the path has none. */
  readonly id: string;
  /** The caller, whom `adminRefusal` has let through. */
  readonly caller: Caller;
}

/** Answers one endpoint under /admin/api. */
export type AdminHandler = (given: AdminRequest) => Promise<Response | Refusal>;
