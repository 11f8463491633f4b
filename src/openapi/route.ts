import { adminRefusal } from "../admin/authorize.js";
import type { Callers } from "../auth/callers.js";
import { isRefusal, responseOf } from "../http/refusal.js";
import { jsonText } from "../http/respond.js";
import type { Config } from "../project/config.js";
import type { LiveProject } from "../schema/live-project.js";
import type { ProjectSource } from "../schema/project-source.js";
import { openApiDocument } from "./document.js";

/** What `GET /openapi.json` works with. */
export interface OpenApiServices {
  readonly callers: Callers;
  readonly projects: ProjectSource;
  readonly config: Config;
  readonly publicBaseUrl: string;
}

/**
 * The handler of `GET /openapi.json`, for an administrator or a `project:backend` key, with `api.public_openapi` for
 * everybody (`docs/reference/http.md#openapi`). The document is made once for each version of the schema.
 */
export function openApi({ callers, projects, config, publicBaseUrl }: OpenApiServices) {
  const texts = new WeakMap<LiveProject, string>();
  return async ({ headers }: Request): Promise<Response> => {
    const answer = await callers.run(headers, async ({ caller, schemaVersion }) => {
      const refusal = config.api.public_openapi ? null : adminRefusal(caller);
      const project = refusal ?? (await projects.current(schemaVersion));
      if (isRefusal(project)) return project;
      const made =
        texts.get(project) ?? JSON.stringify(openApiDocument({ ...project, config, baseUrl: publicBaseUrl }));
      texts.set(project, made);
      return jsonText(made);
    });
    return responseOf(answer);
  };
}
