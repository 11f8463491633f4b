import type { IdentifiedCaller } from "../auth/callers/callers.js";
import { addFacts } from "../http/answer-facts.js";
import { isRefusal, responseOf } from "../http/refusal.js";
import { jsonText } from "../http/respond.js";
import { adminRefusal } from "./authorize.js";
import { administrators, plainErrors, type ServerEndpoint } from "./endpoint.js";

/**
 * GET /openapi.json: the OpenAPI document of the project. An administrator and a `project:backend` key may read it, and
 * everybody may if `api.public_openapi` is on (`docs/reference/http.md#openapi`).
 */
export const openApiEndpoint: ServerEndpoint = {
  method: "GET",
  path: "/openapi.json",
  summary: "This document",
  callers: administrators,
  opensBy: "public_openapi",
  answers: { 200: { type: "object" } },
  errors: plainErrors,
  needs: "nothing",
  handle: async ({ request, services: { callers, config, projects, documentText } }) => {
    let by: IdentifiedCaller["caller"] | undefined;
    const answer = await callers.run(request.headers, async ({ caller, schemaVersion }) => {
      by = caller;
      const refusal = config.api.public_openapi ? null : adminRefusal(caller);
      const project = refusal ?? (await projects.current(schemaVersion));
      return isRefusal(project) ? project : jsonText(await documentText(project));
    });
    const response = responseOf(answer);
    if (by !== undefined && response.status === 200) addFacts(request, response, { principal: by });
    return response;
  },
};
