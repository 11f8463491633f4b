import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { documentText } from "../../src/openapi/document-text.js";
import { type Database, type Statement, StatementError, UnavailableError } from "../../src/platform/database.js";
import { ProblemsError } from "../../src/problems/problem.js";
import type { Config } from "../../src/project/config.js";
import { fitRules } from "../../src/schema/fit-rules.js";
import { loadSchemaInForce } from "../../src/schema/in-force.js";

/** A part of a document, of which only what has parts of its own is looked into. */
export interface Json {
  readonly [key: string]: Json;
}

/**
 * Throws where an answer is none that the project's own OpenAPI document describes, and where a request went well that
 * the document does not allow.
 */
export type AnswerCheck = (path: string, init: RequestInit, response: Response) => Promise<void>;

export function documentedAnswers(configText: string, config: Config, database: Database): AnswerCheck {
  let documented: { readonly version: number; readonly document: Json } | null = null;
  const current = async (): Promise<Json | null> => {
    const [found] = await database.query([{ sql: "SELECT max(version) FROM _schema", params: [] }]);
    const version = Number(found!.rows[0]![0]);
    if (documented?.version === version) return documented.document;
    const [whole] = await database.query([wholeSchema]);
    const key = JSON.stringify([configText, ...whole!.rows[0]!]);
    const document = documents.get(key) ?? (await documentOf(config, database));
    if (document === null) return null;
    documents.set(key, document);
    documented = { version, document };
    return document;
  };
  return async (path, init, response) => {
    if (response.headers.get("X-Content-Type-Options") !== "nosniff") throw new Error(`${path}: no nosniff`);
    const document = await current().catch(unlessUnavailable);
    if (document === null) return;
    const method = init.method ?? "GET";
    const operation = describedBy(document, method, path);
    const answers: Json = operation?.responses ?? undescribed(document);
    const problem =
      (await answerProblem(document, answers, method, response)) ??
      (response.ok && operation ? requestProblem(document, operation, init) : null);
    if (problem !== null) throw new Error(`${method} ${path.slice(0, 200)} → ${response.status}: ${problem}`);
  };
}

/** By all that a document is made of, as most tests of a file serve the same project. */
const documents = new Map<string, Json>();

const wholeSchema: Statement = {
  sql: "SELECT (SELECT max(version) FROM _schema), (SELECT text FROM _schema ORDER BY version DESC LIMIT 1), (SELECT json_group_array(sql) FROM sqlite_master)",
  params: [],
};

/** The project's own document; null without a project that works, where every answer is 503. */
async function documentOf(config: Config, database: Database): Promise<Json | null> {
  const inForce = await loadSchemaInForce(database);
  const parsed = inForce && fitRules(config, inForce);
  if (parsed === null || parsed.problems.length > 0) return null;
  const { rules, operations: operationRules } = parsed;
  const project = { ...inForce!, rules, operationRules, config, baseUrl: "http://127.0.0.1:8787" };
  return JSON.parse(documentText(project)) as Json;
}

/** The database of some tests is broken on purpose, and so is what it holds. */
function unlessUnavailable(error: unknown): null {
  const isBroken = [UnavailableError, StatementError, ProblemsError].some((kind) => error instanceof kind);
  if (isBroken) return null;
  throw error;
}

async function answerProblem(
  document: Json,
  answers: Json,
  method: string,
  response: Response,
): Promise<string | null> {
  const isPreflight = method === "OPTIONS" && response.status === 204;
  if (isPreflight) return null;
  const answer = answers[String(response.status)];
  if (answer === undefined)
    return `the status is none of ${Object.keys(answers).join(", ")} (${await response.clone().text()})`;
  const { content } = referred(document, answer);
  const type = response.headers.get("Content-Type")?.split(";")[0] ?? null;
  if (content === undefined) return type === null ? null : `a body of ${type}, though none is described`;
  const described = type === null ? undefined : content[type];
  if (described === undefined) return `a body of ${type}, not of ${Object.keys(content).join(", ")}`;
  if (type !== "application/json" || method === "HEAD") return null;
  return mismatch(document, described.schema!, await response.clone().json());
}

/** Of a request that went well. */
function requestProblem(document: Json, operation: Json, init: RequestInit): string | null {
  const headers = new Headers(init.headers);
  const isAnonymous = !["Authorization", "X-API-Key", "Cookie"].some((name) => headers.has(name));
  const callers = operation.security as unknown as readonly object[];
  if (isAnonymous && !callers.some((caller) => Object.keys(caller).length === 0))
    return "somebody without credentials went through";
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  return schema !== undefined && typeof init.body === "string"
    ? mismatch(document, schema, JSON.parse(init.body))
    : null;
}

function mismatch(document: Json, schema: Json, value: unknown): string | null {
  const validate = validator(document, schema);
  return validate(value) ? null : `${JSON.stringify(validate.errors)} in ${JSON.stringify(value)}`;
}

function operationOf(document: Json, method: string, path: string): Json | undefined {
  const asked = new URL(path, "http://x").pathname.split("/");
  const found = Object.entries(document.paths!).find(([template]) => {
    const parts = template.split("/");
    return parts.length === asked.length && parts.every((part, i) => part === asked[i] || part.startsWith("{"));
  });
  return found?.[1][method];
}

/** What describes a request: HEAD is GET, and QUERY has a path of its own there, as OpenAPI 3.1 does not know it. */
function describedBy(document: Json, method: string, path: string): Json | undefined {
  if (method === "QUERY") return operationOf(document, "post", `${path.replace(/\?.*$/, "")}/_svc/query`);
  return operationOf(document, method === "HEAD" ? "get" : method.toLowerCase(), path);
}

/** Of a path or a method that there is not: a refusal. */
function undescribed({ components }: Json): Json {
  const { responses } = components!;
  return Object.fromEntries(Object.entries(responses!).map(([name, answer]) => [name.replace("svc.", ""), answer]));
}

/** What a reference means; the part itself where it is none. */
export function referred(document: Json, part: Json): Json {
  const reference: unknown = part.$ref;
  if (typeof reference !== "string") return part;
  return reference
    .slice(2)
    .split("/")
    .reduce((at, key) => at[key]!, document);
}

/** The schemas of the document that a part refers to, and those that these refer to. */
function schemasOf(document: Json, part: Json, found: Record<string, Json> = {}): Record<string, Json> {
  if (typeof part !== "object" || part === null) return found;
  const [, name] = /^#\/components\/schemas\/(.+)$/.exec(String(part.$ref)) ?? [];
  if (name !== undefined && found[name] === undefined) {
    found[name] = document.components!.schemas![name]!;
    schemasOf(document, found[name], found);
  }
  for (const inner of Object.values(part)) schemasOf(document, inner, found);
  return found;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
/** By the text of the whole schema, as most projects of the suite share most of theirs. */
const validators = new Map<string, ValidateFunction>();
/** By the part of a document. */
const validatorsOfParts = new WeakMap<Json, ValidateFunction>();

function validator(document: Json, part: Json): ValidateFunction {
  const known = validatorsOfParts.get(part);
  if (known !== undefined) return known;
  const schema = { allOf: [part], components: { schemas: schemasOf(document, part) } };
  const text = JSON.stringify(schema);
  const made = validators.get(text) ?? ajv.compile(schema);
  validators.set(text, made);
  validatorsOfParts.set(part, made);
  return made;
}
