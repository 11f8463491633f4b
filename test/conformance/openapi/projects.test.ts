import { copyFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { openLibsql } from "../../../src/node/database/libsql.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { type DocumentedProject, documentedProjects } from "../../generators/projects.js";
import { client } from "../../support/client.js";
import { referred } from "../../support/documented.js";
import { apiKey, serve } from "../../support/server.js";

// What generators of code need of a document. `npm run test:generators` runs five of them.

interface Json {
  readonly [key: string]: Json;
}

async function documentOf({
  schema,
  config,
  pulledFrom,
}: DocumentedProject): Promise<{ text: string; document: Json }> {
  const path = pulledFrom === undefined ? undefined : join(mkdtempSync(join(tmpdir(), "svc-")), "pulled.sqlite");
  if (path !== undefined) copyFileSync(pulledFrom!, path);
  const server = await serve({
    schema: path === undefined ? schema : schema + (await pulledText(path)),
    config,
    ...(path !== undefined && { path }),
  });
  const { text } = await client(server, await apiKey(server, "project:backend")).get("/openapi.json");
  return { text, document: JSON.parse(text) };
}

async function pulledText(path: string): Promise<string> {
  const database = openLibsql({ path, synchronous: "normal" });
  const { text } = await pullSchema(database);
  await database.close();
  return text;
}

/** All objects of a document, each with the path to it. */
function* partsOf(part: unknown, at: string): Generator<readonly [at: string, part: Json]> {
  if (typeof part !== "object" || part === null) return;
  if (!Array.isArray(part)) yield [at, part as Json];
  for (const [name, inner] of Object.entries(part)) yield* partsOf(inner, `${at}/${name}`);
}

/** A name as a generator may write it in the case of its language. */
const plain = (name: string) => name.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase();
const twice = (names: readonly string[]) => names.filter((name, i) => names.map(plain).indexOf(plain(name)) !== i);

describe.each(documentedProjects)("the document of a project with $name", (project) => {
  it("is one that generators take, has no long schema twice, and at most 30 kB for each table", async () => {
    const { text, document } = await documentOf(project);
    expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
    const { schemas, parameters } = document.components as Record<string, Json>;
    const operations = Object.values(document.paths!).flatMap((path) => Object.values(path as object));
    const ids = operations.flatMap(({ operationId }) => (operationId === undefined ? [] : [operationId]));
    expect(twice(ids)).toEqual([]);
    expect(twice(Object.keys(schemas!))).toEqual([]);
    expect(twice(Object.keys(parameters!))).toEqual([]);
    const wrong: string[] = [];
    for (const [at, part] of partsOf(document, "#")) {
      const { $ref, type, items, properties = {}, required = [] } = part as Record<string, unknown>;
      if (typeof $ref === "string" && referred(document, part) === undefined) wrong.push(`${at}: ${$ref}`);
      if ([type].flat().includes("array") && typeof items !== "object") wrong.push(`${at}: an array without items`);
      const isParameter = typeof part.in === "string" && typeof part.name === "string" && type === undefined;
      if (isParameter && (typeof part.schema !== "object" || "content" in part)) wrong.push(`${at}: no schema`);
      // The regular expressions of Python have no classes of Unicode.
      if (typeof part.pattern === "string" && /\\p\{/.test(part.pattern)) wrong.push(`${at}: ${part.pattern}`);
      // Generators for Python write code that does not parse for it.
      for (const [name, property] of Object.entries(properties as Json))
        if (typeof property?.const === "boolean" && !(required as string[]).includes(name))
          wrong.push(`${at}: the constant ${name} may be absent`);
    }
    expect(wrong).toEqual([]);

    const counted = new Map<string, number>();
    for (const [at, part] of partsOf(document, "#")) {
      // Other paths are the same for all projects.
      const isOfTables = at.startsWith("#/paths//api/") || at.startsWith("#/components/");
      if (!isOfTables || !("type" in part || "anyOf" in part)) continue;
      const schema = JSON.stringify(part);
      if (schema.length > 300) counted.set(schema, (counted.get(schema) ?? 0) + 1);
    }
    const components = new Set(Object.values(document.components!.schemas!).map((schema) => JSON.stringify(schema)));
    expect([...counted].filter(([schema, times]) => times > 1 && !components.has(schema))).toEqual([]);
    const tables = new Set(Object.keys(document.paths!).flatMap((path) => /^\/api\/(\w+)$/.exec(path)?.[1] ?? []));
    expect(text.length).toBeLessThan(120_000 + tables.size * 30_000);
  });
});
