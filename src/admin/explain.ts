import { longWorkFor } from "../auth/callers/principal.js";
import { schemaVersionCheck } from "../auth/store/checks.js";
import { explain } from "../explain/explain.js";
import { questionOf } from "../explain/question.js";
import { readJsonObject } from "../http/body.js";
import { isRefusal, Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import type { AdminRequest } from "./services.js";

/**
 * POST /admin/api/explain: says why a caller may, or may not, do something (docs/reference/http.md#explain). API keys
 * are refused, because a key could learn from explanations what it may not read.
 */
export async function postExplain({ request, services, caller }: AdminRequest): Promise<Response | Refusal> {
  if (caller.kind === "key") return new Refusal("forbidden", "a key cannot ask for explanations");
  const { platform, config, projects } = services;
  const body = await readJsonObject(request, config.api.max_body_bytes);
  if (isRefusal(body)) return body;
  const question = questionOf(body);
  if (isRefusal(question)) return question;
  const [found] = await platform.database.query([schemaVersionCheck()]);
  const project = await projects.current(found!.rows[0]![0] as number | null);
  if (isRefusal(project)) return project;
  const { database } = platform;
  const longWork = (takenMs: number) => longWorkFor(caller, config.api, takenMs);
  const data = await explain(question, { database, platform, config, project, longWork });
  return isRefusal(data) ? data : json({ data });
}
