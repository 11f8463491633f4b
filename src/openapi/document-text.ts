import type { Config } from "../project/config.js";
import { type LiveProject, operationRulesOf } from "../schema/live-project.js";
import { openApiDocument } from "./document.js";

/** The text of a project's OpenAPI document, made once for each version of the schema. */
export function createDocumentText(config: Config, baseUrl: string): (project: LiveProject) => string {
  const texts = new WeakMap<LiveProject, string>();
  return (project) => {
    const operationRules = operationRulesOf(project);
    const text = texts.get(project) ?? JSON.stringify(openApiDocument({ ...project, operationRules, config, baseUrl }));
    texts.set(project, text);
    return text;
  };
}
