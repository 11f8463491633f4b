import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readProject } from "../../node/project-directory.js";
import { documentText } from "../../openapi/document-text.js";
import { configuredBaseUrl } from "../../project/environment.js";
import { listenUrl } from "../../project/listen-url.js";
import { parseRules } from "../../project/parse-rules.js";
import { parseSchema } from "../../project/parse-schema.js";
import type { Command, Invocation } from "../command.js";
import { rowTypes } from "../row-types.js";

const outHelp = [
  "--out FILE       the file to write instead of standard output, relative to the current directory.",
  "                 Missing folders are made.",
];

const genTypes: Command = {
  name: "gen types",
  usage: "[--out FILE] [--big-integers]",
  summary: "Writes the TypeScript types of the tables in svc.schema.yaml, for createClient<Tables>() of svc-client.",
  options: { out: { type: "string" }, "big-integers": { type: "boolean" } },
  help: [
    ...outHelp,
    "--big-integers   types integers as number | string, because those beyond ±(2^53−1) are decimal strings",
    "Columns that a rule of svc.toml hides from some callers are optional in rows.",
  ],
  positionals: [],
  run: async (invocation) => {
    const { config, schemaText } = readProject(invocation.directory);
    const integers = invocation.flag("big-integers") ? "number | string" : "number";
    write(invocation, rowTypes(parseSchema(schemaText).schema!, config.rules, { integers }));
    return 0;
  },
};

const genOpenApi: Command = {
  name: "gen openapi",
  usage: "[--out FILE]",
  summary: "Writes the OpenAPI 3.1 document of the project's files. A server serves its own at /openapi.json.",
  options: { out: { type: "string" } },
  help: outHelp,
  positionals: [],
  run: async (invocation) => {
    const { config, schemaText } = readProject(invocation.directory);
    const { schema } = parseSchema(schemaText);
    const { rules, operations: operationRules } = parseRules(config, schema!);
    const { host, port, tls_cert } = config.server;
    const configured = configuredBaseUrl(config, invocation.environment);
    const baseUrl = configured ?? listenUrl(host, port, tls_cert !== "");
    const text = documentText({
      schema: schema!,
      catalog: null,
      rules,
      operationRules,
      version: 0,
      config,
      baseUrl,
    });
    write(invocation, `${text}\n`);
    return 0;
  },
};

function write(invocation: Invocation, text: string): void {
  const file = invocation.text("out");
  if (file === undefined) {
    process.stdout.write(text);
    return;
  }
  mkdirSync(dirname(resolve(file)), { recursive: true });
  writeFileSync(resolve(file), text);
}

/** `svc gen types` and `svc gen openapi` */
export const commands: readonly Command[] = [genTypes, genOpenApi];
