import { unknownMember } from "../http/body.js";
import { quoted } from "../http/query-string.js";
import { badRequest, isRefusal, Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import { named } from "../schema/plan/planner.js";
import { reloaded, reloadRequest } from "../wire/reload.js";
import { data } from "../wire/schema.js";
import { type AdminEndpoint, submitErrors, withConsole } from "./endpoint.js";
import { problemsRefusal } from "./problems-refusal.js";
import type { AdminRequest } from "./services.js";

/** POST /admin/api/reload: takes svc.toml and svc.schema.yaml over as they are now (docs/reference/http.md#reload). */
export const reloadEndpoint: AdminEndpoint = {
  method: "POST",
  path: "/admin/api/reload",
  summary: "Takes the project's files over as they are now",
  callers: withConsole,
  takes: reloadRequest,
  bodyIsOptional: true,
  answers: { 200: data(reloaded) },
  errors: submitErrors,
  events: ["reloaded", null],
  needs: "password",
  handle: reload,
};

async function reload({ body, services }: AdminRequest): Promise<Response | Refusal> {
  const text = await body.text();
  if (isRefusal(text)) return text;
  const sent = text === "" ? {} : await body.jsonObject();
  if (isRefusal(sent)) return sent;
  const unknown = unknownMember(sent, ["dry_run"]);
  if (unknown !== undefined) return badRequest(`unknown member ${quoted(unknown)}`);
  const { dry_run: isDryRun = false } = sent;
  if (typeof isDryRun !== "boolean") return badRequest("dry_run: expected true or false");
  if (services.reload === null) return noFiles;
  const outcome = await services.reload({ isDryRun });
  if ("problems" in outcome) return problemsRefusal(named(outcome.problems), true);
  return json({ data: { ...outcome, restart: [] } });
}

const noFiles = new Refusal("conflict", "this server reads no files: deploy it again");
