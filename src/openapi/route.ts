import { adminRefusal } from "../admin/authorize.js";
import type { Callers, IdentifiedCaller } from "../auth/callers/callers.js";
import { tellOf } from "../http/answer-facts.js";
import { isRefusal, responseOf } from "../http/refusal.js";
import { jsonText } from "../http/respond.js";
import type { Config } from "../project/config.js";
import { type LiveProject, operationRulesOf } from "../schema/live-project.js";
import type { ProjectSource } from "../schema/project-source.js";
import { openApiDocument } from "./document.js";

/** What the handler of `GET /openapi.json` needs. */
export interface OpenApiServices {
  readonly callers: Callers;
  readonly projects: ProjectSource;
  readonly config: Config;
  readonly publicBaseUrl: string;
}

/**
 * Makes the handler of `GET /openapi.json`. An administrator and a `project:backend` key may read the document, and
 * everybody may if `api.public_openapi` is on (`docs/reference/http.md#openapi`). The document is made once for each
 * version of the schema.
 */
export function openApi({ callers, projects, config, publicBaseUrl }: OpenApiServices) {
  const texts = new WeakMap<LiveProject, string>();
  return async (request: Request): Promise<Response> => {
    let by: IdentifiedCaller["caller"] | undefined;
    const answer = await callers.run(request.headers, async ({ caller, schemaVersion }) => {
      by = caller;
      const refusal = config.api.public_openapi ? null : adminRefusal(caller);
      const project = refusal ?? (await projects.current(schemaVersion));
      if (isRefusal(project)) return project;
      const made =
        texts.get(project) ??
        JSON.stringify(
          openApiDocument({
            ...project,
            operationRules: operationRulesOf(project),
            config,
            baseUrl: publicBaseUrl,
          }),
        );
      texts.set(project, made);
      return jsonText(made);
    });
    const response = responseOf(answer);
    if (by !== undefined && response.status === 200) tellOf(request, response, { principal: by });
    return response;
  };
}
