import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { svc } from "../support/project-directory.js";
import { spawnServer } from "../support/spawned-server.js";
import { type DocumentedProject, documentedProjects } from "./projects.js";
import { done, Toolchain } from "./toolchain.js";

// `npm run test:generators`: a validator and four generators take the document of a running server. What is generated
// compiles, and lists a table of the server.

/** A project that is served, and a folder for what is made of its document. */
interface Served {
  readonly url: string;
  readonly key: string;
  readonly folder: string;
  readonly documentFile: string;
  /** The path and the id of the operation that lists the project's table. */
  readonly path: string;
  readonly listId: string;
}

let tools: Toolchain;
beforeAll(() => {
  process.env.SVC_JWT_SECRET = "a secret of the generators' tests, 32 bytes and more";
  tools = new Toolchain();
});
afterAll(() => tools?.remove());

async function served({ name, schema, config, table, pulledFrom }: DocumentedProject): Promise<Served> {
  const directory = mkdtempSync(join(tmpdir(), "svc-documented-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const database = pulledFrom === undefined ? "" : 'database = { url = "file:pulled.sqlite" }\n';
  const file = (name: string) => join(directory, name);
  writeFileSync(file("svc.toml"), database + config);
  writeFileSync(file("svc.schema.yaml"), schema);
  if (pulledFrom !== undefined) {
    copyFileSync(pulledFrom, file("pulled.sqlite"));
    svc(directory, ["schema", "pull", "--from", file("pulled.sqlite"), "--force"]);
    writeFileSync(file("svc.schema.yaml"), schema + readFileSync(file("svc.schema.yaml"), "utf8"));
  }
  const made = svc(directory, ["admin", "create-service-key", "--name", "g", "--scope", "project:backend"]);
  const key = made.trim().split("\n").at(-1)!;
  const { url, end } = await spawnServer(directory);
  onTestFinished(async () => {
    await end("SIGTERM");
  });
  const document = await (await fetch(`${url}/openapi.json`, { headers: { Authorization: `Bearer ${key}` } })).text();
  const folder = join(tools.directory, name.replaceAll(" ", "_"));
  mkdirSync(folder, { recursive: true });
  const documentFile = join(folder, "openapi.json");
  writeFileSync(documentFile, document);
  const path = `/api/${table}`;
  return { url, key, folder, documentFile, path, listId: JSON.parse(document).paths[path].get.operationId };
}

const camelCase = (id: string) => id.replaceAll(/_+(\w)/g, (_, letter: string) => letter.toUpperCase());

/** What each generator in TypeScript is called with, and a program that lists the project's table with its code. */
const inTypeScript: Readonly<Record<string, { generate(of: Served): void; program(of: Served): string }>> = {
  orval: {
    generate: ({ folder, documentFile, url }) => {
      const output = { target: "orval/api.ts", client: "fetch", baseUrl: url };
      const config = `export default ${JSON.stringify({ api: { input: documentFile, output } })};`;
      writeFileSync(join(folder, "orval.config.mjs"), config);
      tools.command("orval", ["--config", join(folder, "orval.config.mjs")]);
    },
    program: ({ listId }) => `
import { ${camelCase(listId)} as list } from "./orval/api";
const { status, data } = await list({ limit: 1 }, { headers: { Authorization: \`Bearer \${process.env.KEY}\` } });
if (status !== 200) throw new Error(JSON.stringify(data));
console.log(data.meta.limit);
`,
  },
  "openapi-typescript": {
    generate: ({ folder, documentFile }) => {
      tools.command("openapi-typescript", [documentFile, "-o", join(folder, "openapi-typescript/schema.ts")]);
    },
    program: ({ path }) => `
import createClient from "openapi-fetch";
import type { paths } from "./openapi-typescript/schema";
const client = createClient<paths>({ baseUrl: process.env.URL, headers: { Authorization: \`Bearer \${process.env.KEY}\` } });
const { data, error } = await client.GET("${path}", { params: { query: { limit: 1 } } });
if (data === undefined) throw new Error(JSON.stringify(error));
console.log(data.meta.limit);
`,
  },
  "hey-api": {
    generate: ({ folder, documentFile }) => {
      tools.command("openapi-ts", ["-i", documentFile, "-o", join(folder, "hey-api")]);
    },
    program: ({ listId }) => `
import { client } from "./hey-api/client.gen";
import { ${camelCase(listId)} as list } from "./hey-api";
client.setConfig({ baseUrl: process.env.URL, auth: process.env.KEY });
const { data, error } = await list({ query: { limit: 1 } });
if (data === undefined) throw new Error(JSON.stringify(error));
console.log(data.meta.limit);
`,
  },
};

describe.each(documentedProjects)("the document of a project with $name", (project) => {
  it("is valid, and what five tools make of it compiles and calls the server", async () => {
    const of = await served(project);
    const { folder, url, key } = of;
    const env = { URL: url, KEY: key };
    const compilerOptions = {
      strict: true,
      skipLibCheck: true,
      target: "es2022",
      lib: ["es2023", "dom", "dom.iterable"],
      module: "esnext",
      moduleResolution: "bundler",
      types: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
    writeFileSync(join(folder, "process.d.ts"), "declare const process: { env: Record<'URL' | 'KEY', string> };\n");
    for (const [name, { generate, program }] of Object.entries(inTypeScript)) {
      generate(of);
      writeFileSync(join(folder, `${name}.call.ts`), program(of));
    }
    tools.command("tsc", ["--noEmit", "-p", folder]);
    for (const name of Object.keys(inTypeScript)) {
      tools.command("esbuild", [
        join(folder, `${name}.call.ts`),
        "--bundle",
        "--format=esm",
        "--platform=node",
        `--outfile=${join(folder, `${name}.call.mjs`)}`,
      ]);
      expect(tools.run(join(folder, `${name}.call.mjs`), [], env).trim(), name).toBe("1");
    }
    if (tools.python !== null) callWithPython(tools.python, of);
  });
});

/** Bodies in YAML are none that the generator knows: it leaves out the two operations that take them. */
const unknownBodies = "Unsupported content type application/yaml";

function callWithPython(python: string, { folder, documentFile, url, key, listId }: Served): void {
  const validate = `
import json, sys
from openapi_spec_validator import OpenAPIV31SpecValidator
errors = list(OpenAPIV31SpecValidator(json.load(open(sys.argv[1]))).iter_errors())
sys.exit("\\n".join(str(error) for error in errors[:10]) or 0)
`;
  done(python, ["-c", validate, documentFile]);
  const env = { PATH: `${join(tools.directory, "python/bin")}:${process.env.PATH}` };
  const generator = join(tools.directory, "python/bin/openapi-python-client");
  const out = join(folder, "generated");
  const said = done(generator, ["generate", "--path", documentFile, "--output-path", out, "--meta", "none"], { env });
  const warnings = said.split("\n").filter((line) => /^(Unable|WARNING|Unsupported|Attempted|Cannot)/.test(line));
  expect(
    warnings.filter((line) => line !== unknownBodies && !/\/admin\/api\/schema\/(plan|apply) /.test(line)),
  ).toEqual([]);
  const call = `
import importlib, os, pkgutil
import generated
for module in pkgutil.walk_packages(generated.__path__, "generated."):
    importlib.import_module(module.name)
names = [module.name for module in pkgutil.walk_packages(generated.__path__, "generated.") if not module.ispkg]
[name] = [name for name in names if name.endswith(".${listId.toLowerCase()}") and ".api." in name]
client = generated.AuthenticatedClient(base_url=os.environ["URL"], token=os.environ["KEY"])
answer = importlib.import_module(name).sync_detailed(client=client, limit=1)
assert answer.status_code == 200, answer
print(answer.parsed.meta.limit)
`;
  writeFileSync(join(folder, "call.py"), call);
  expect(done(python, ["call.py"], { cwd: folder, env: { URL: url, KEY: key } }).trim()).toBe("1");
}
