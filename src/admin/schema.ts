import { type Caller, longWorkFor } from "../auth/callers/principal.js";
import { parseQueryString, quoted } from "../http/query-string.js";
import { badRequest, isRefusal, Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import { asLongWork } from "../platform/as-long-work.js";
import type { Database } from "../platform/database.js";
import { type ApplyOutcome, applyChange } from "../schema/apply.js";
import { formatStep } from "../schema/plan/format-plan.js";
import { named } from "../schema/plan/planner.js";
import { problemsWith } from "../tables/plan/without-ways.js";
import { type SchemaChange, type SchemaPlan, schemaChange, schemaPlan } from "../wire/plan.js";
import { data, oneOf, text } from "../wire/schema.js";
import { type AdminEndpoint, inQuery, submitErrors, withConsole } from "./endpoint.js";
import { problemsRefusal } from "./problems-refusal.js";
import type { AdminRequest, AdminServices } from "./services.js";

const yaml = { "application/yaml": text };

/**
 * POST /admin/api/schema/plan: shows the steps that would change the database to a proposed schema, and takes none of
 * them (docs/reference/http.md#schema-changes-over-http). The body is the schema as YAML; where it is empty, the
 * svc.schema.yaml that was deployed with the server is meant.
 */
export const planSchemaEndpoint: AdminEndpoint = {
  method: "POST",
  path: "/admin/api/schema/plan",
  summary: "The steps from the schema in force to the one of the body",
  callers: withConsole,
  body: yaml,
  bodyIsOptional: true,
  answers: { 200: data(schemaPlan) },
  errors: submitErrors,
  events: ["admin_read", null],
  needs: "session",
  handle: planSchema,
};

async function planSchema(given: AdminRequest): Promise<Response | Refusal> {
  const { request, services, caller } = given;
  const parameters = parametersOf(request, []);
  const text = isRefusal(parameters) ? parameters : await proposedText(given);
  if (isRefusal(text)) return text;
  const planned = await services.planner.steps(databaseFor(caller, services), text);
  if (planned.outcome === "invalid") return problemsRefusal(planned);
  const { base, hash, steps } = planned.plan;
  return answer({ base, hash, steps });
}

/**
 * POST /admin/api/schema/apply?base=HASH&allow_destructive=true: changes the database to the schema in the body (YAML),
 * or where the body is empty, to the svc.schema.yaml that was deployed with the server. With `base`, it does so only if
 * the schema in force still has that hash.
 */
export const applySchemaEndpoint: AdminEndpoint = {
  method: "POST",
  path: "/admin/api/schema/apply",
  summary: "Carries them out",
  callers: withConsole,
  parameters: [inQuery("base"), inQuery("allow_destructive", oneOf("true", "false"))],
  body: yaml,
  bodyIsOptional: true,
  answers: { 200: data(schemaChange) },
  errors: submitErrors,
  events: ["schema_applied", null],
  needs: "password",
  handle: applySchema,
};

async function applySchema(given: AdminRequest): Promise<Response | Refusal> {
  const { request, services, caller } = given;
  const { platform, config, planner, projects } = services;
  const parameters = parametersOf(request, ["base", "allow_destructive"]);
  if (isRefusal(parameters)) return parameters;
  const allow = parameters.get("allow_destructive") ?? "false";
  if (allow !== "true" && allow !== "false") return badRequest("allow_destructive: expected true or false");
  const text = await proposedText(given);
  if (isRefusal(text)) return text;
  const base = parameters.get("base");
  const sources = await projects.sources();
  const outcome = await applyChange(databaseFor(caller, services), text, {
    allowDestructive: allow === "true",
    now: platform.clock.now(),
    fits: (schema) => {
      const problems = sources.map((source) => problemsWith({ ...config, ...source }, schema));
      return problems.find((found) => found.length === 0) ?? problems[0]!;
    },
    planner: planner.plan,
    ...(base === undefined ? {} : { base }),
  });
  return outcomeAnswer(outcome);
}

/**
 * Returns the database by which a request plans or applies a change of the schema. All its statements together may take
 * as long as those of an API key (`api.key_deadline_ms`), also where an administrator asks.
 */
function databaseFor(caller: Caller, { platform, config: { api } }: AdminServices): Database {
  const { database, clock } = platform;
  const beganMs = clock.elapsed();
  const limits = { ...api, deadline_ms: api.key_deadline_ms };
  return asLongWork(database, () => longWorkFor(caller, limits, clock.elapsed() - beganMs));
}

function outcomeAnswer(outcome: ApplyOutcome): Response | Refusal {
  if (outcome.outcome === "unchanged") return answer({ version: outcome.version, hash: outcome.hash, steps: [] });
  if (outcome.outcome === "applied")
    return answer({ version: outcome.version, hash: outcome.hash, steps: outcome.steps });
  switch (outcome.reason) {
    case "base_moved":
      return new Refusal("conflict", `the schema in force is another one: ${outcome.inForce}`);
    case "destructive": {
      const waiting = outcome.steps.map(formatStep);
      return new Refusal("conflict", ["steps that lose something need allow_destructive=true", ...waiting].join("\n"));
    }
    case "constraint":
      return new Refusal("conflict", outcome.message);
    case "rules_do_not_fit":
      return problemsRefusal(named(outcome.problems));
    case "invalid":
      return problemsRefusal(outcome);
  }
}

function answer(shown: SchemaPlan | SchemaChange): Response {
  return json({ data: shown });
}

function parametersOf(request: Request, known: readonly string[]): ReadonlyMap<string, string> | Refusal {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  const unknown = parameters.find(([name]) => !known.includes(name));
  return unknown === undefined ? new Map(parameters) : badRequest(`unknown parameter ${quoted(unknown[0])}`);
}

async function proposedText({ request, body, services }: AdminRequest): Promise<string | Refusal> {
  const text = await body.text();
  if (isRefusal(text)) return text;
  if (text === "") return services.readSchemaFile();
  const isYaml = /^application\/yaml\s*(;|$)/i.test(request.headers.get("Content-Type") ?? "");
  return isYaml ? text : new Refusal("unsupported_media_type", "expected Content-Type: application/yaml");
}
