import { readProject } from "../../node/project-directory.js";
import { formatProblem } from "../../project/problem.js";
import { parseRules } from "../../project/rules/rules.js";
import { ruleWarnings } from "../../project/rules/warnings.js";
import { parseSchema } from "../../project/schema.js";
import type { Command } from "../command.js";

/** `svc check`: both files and all rules, every problem and warning at once. */
const check: Command = {
  name: "check",
  usage: "",
  summary: "Reads svc.toml, svc.schema.yaml and all rules, and prints every problem and warning.",
  options: {},
  help: [],
  positionals: [],
  run: async ({ directory }) => {
    const { config, schemaText } = readProject(directory);
    const { schema } = parseSchema(schemaText);
    const warnings = ruleWarnings(parseRules(config.rules, schema!).rules, schema!);
    for (const warning of warnings) console.error(`warning: ${formatProblem(warning)}`);
    console.log("no problems");
    return 0;
  },
};

export const commands: readonly Command[] = [check];
