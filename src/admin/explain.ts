import { longWorkFor } from "../auth/callers/principal.js";
import { schemaVersion } from "../auth/store/checks.js";
import { explain } from "../explain/explain.js";
import { parseExplainRequest } from "../explain/explain-request.js";
import { isRefusal, Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import { ask } from "../platform/query.js";
import { explanation } from "../wire/explanation.js";
import { constant, data, type JsonSchema, nullOr, object, oneOf, openObject, text } from "../wire/schema.js";
import { type AdminEndpoint, people } from "./endpoint.js";
import type { AdminRequest } from "./services.js";

const caller: JsonSchema = {
  oneOf: [
    object({ user: text }),
    object({ email: text }),
    object({ anonymous: constant(true) }),
    object({ key: text }),
  ],
};

/**
 * POST /admin/api/explain: says why a caller may, or may not, do something (docs/reference/http.md#explain). API keys
 * are refused, because a key could learn from explanations what it may not read.
 */
export const postExplainEndpoint: AdminEndpoint = {
  method: "POST",
  path: "/admin/api/explain",
  summary: "Why a caller may, or may not, do something with a table",
  callers: people,
  takes: object(
    {
      as: caller,
      action: oneOf("read", "create", "update", "delete", "history"),
      table: text,
      key: { anyOf: [openObject({}), text, { type: "null" }] },
      values: nullOr(openObject({})),
      query: nullOr(openObject({})),
    },
    "key",
    "values",
    "query",
  ),
  answers: { 200: data(explanation) },
  errors: [400, 401, 403, 404, 405, 413, 415, 429, 500, 503],
  events: ["admin_read", null],
  needs: "session",
  handle: postExplain,
};

async function postExplain({ body: sent, services, caller }: AdminRequest): Promise<Response | Refusal> {
  if (caller.kind === "key") return new Refusal("forbidden", "a key cannot ask for explanations");
  const { platform, config, projects } = services;
  const body = await sent.jsonObject();
  if (isRefusal(body)) return body;
  const question = parseExplainRequest(body);
  if (isRefusal(question)) return question;
  const project = await projects.current(await ask(platform.database, schemaVersion()));
  if (isRefusal(project)) return project;
  const { database } = platform;
  const longWork = (takenMs: number) => longWorkFor(caller, config.api, takenMs);
  const data = await explain(question, { database, platform, config, project, longWork });
  return isRefusal(data) ? data : json({ data });
}
