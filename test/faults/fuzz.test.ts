import { readFileSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { Random } from "../property/support/random.js";
import { referred } from "../support/documented.js";
import { figure } from "../support/figures.js";
import { apiKey, type SignedIn, serve, signUp, type TestServer } from "../support/server.js";

/**
 * Requests made of the server's own OpenAPI document, by two users: half of them as it says, half of them not quite. No
 * answer is a failure of the server, none is outside of the document (which is checked with every answer of the suite),
 * and none holds a word of what is the other's. `REQUESTS` prolongs it.
 */
const requests = Number(process.env.REQUESTS ?? 300);
const random = new Random(Random.seedOfRun());
vi.setConfig({ testTimeout: 900_000 + 10 * requests * 50 });

/** A part of a JSON Schema or of the document. */
// biome-ignore lint/suspicious/noExplicitAny: looked into by the keys of OpenAPI
type Part = any;

const hostile = ["", "'", '"', "%", "\0", "é", "\ud800", "../", "__proto__", "x".repeat(5_000), "-1", "1e9", "null"];

/** The most schemas of the document that a value goes through by name: some of them contain themselves. */
const maxReferences = 10;

/** A value of a schema, or now and then one that is not quite of it. */
function valueFor(document: Part, schema: Part, known: readonly string[], references = 0): unknown {
  const part = (inner: Part) => valueFor(document, inner, known, references);
  if (random.chance(0.05)) return random.pick<unknown>([null, {}, [], true, -1, 1.5, 2 ** 53, ...hostile]);
  if (schema.$ref !== undefined) {
    if (references === maxReferences) return {};
    const path: string[] = schema.$ref.slice(2).split("/");
    return valueFor(
      document,
      path.reduce((at, key) => at[key], document),
      known,
      references + 1,
    );
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.contentSchema !== undefined) return JSON.stringify(part(schema.contentSchema));
  if (schema.enum !== undefined) return random.pick(schema.enum);
  if (schema.anyOf !== undefined) return part(random.pick(schema.anyOf));
  const types = [schema.type ?? "string"].flat();
  const type = random.chance(0.9) ? types[0] : random.pick(types);
  switch (type) {
    case "object": {
      const entries = Object.entries(schema.properties ?? {}).filter(
        ([name]) => (schema.required ?? []).includes(name) || random.chance(0.3),
      );
      const made = entries.map(([name, property]) => [name, part(property)]);
      if (random.chance(0.03)) made.push([random.pick(["nobody", "__proto__", "constructor"]), 1]);
      return Object.fromEntries(made);
    }
    case "array":
      return random.times(random.int(0, 3), () => part(schema.items ?? {}));
    case "integer":
      return random.pick([1, 2, 3, random.int(-5, 2_000), schema.maximum ?? 7]);
    case "number":
      return random.next() * 100;
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    default:
      return random.chance(0.6) ? random.pick(known) : random.pick([...hostile, "a word", "9007199254740993"]);
  }
}

const encoded = (value: unknown) => encodeURIComponent(String(value).toWellFormed());

function queryOf(document: Part, parameters: readonly Part[], known: readonly string[]): string {
  const pairs = parameters
    .filter((parameter) => parameter.in === "query" && (parameter.required || random.chance(0.15)))
    .flatMap(({ name, schema, style }: Part) => {
      const value = valueFor(document, schema, known);
      if (style === "deepObject" && typeof value === "object" && value !== null)
        return Object.entries(value).map(([key, item]) => `${encoded(name)}[${encoded(key)}]=${encoded(item)}`);
      return [`${encoded(name)}=${encoded(value)}`];
    });
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

interface Person {
  readonly email: string;
  /** In everything that is theirs. */
  readonly mark: string;
  session: SignedIn;
  readonly known: string[];
}

const password = "correct horse battery staple";

async function settle(server: TestServer, mark: string): Promise<Person> {
  const email = `${mark}@example.com`;
  const session = await signUp(server, email);
  const key = await apiKey(server, "project:backend");
  const create = async (table: string, row: object): Promise<Part> => {
    const response = await server.request(`/api/${table}`, {
      method: "POST",
      headers: { ...key, "Content-Type": "application/json" },
      body: JSON.stringify(row),
    });
    return ((await response.json()) as Part).data;
  };
  const known = [session.id, mark];
  for (const name of ["one", "two"]) {
    const room = await create("rooms", { owner_id: session.id, name: `${mark} ${name}` });
    await create("room_members", { room_id: room.id, user_id: session.id });
    const message = { room_id: room.id, author_id: session.id, body: `${mark} says ${name}` };
    known.push(room.id, String((await create("messages", message)).id));
  }
  return { email, mark, session, known };
}

const isTelling = (text: string, { mark, session }: Person) => text.includes(mark) || text === session.id;

/** Of what nobody may see or do for them: administrators' paths answer with refusals. */
function operationsOf(document: Part) {
  return Object.entries<Part>(document.paths).flatMap(([path, item]) =>
    ["get", "post", "patch", "delete"]
      .filter((method) => item[method] !== undefined)
      .map((method) => ({ path, method, operation: item[method], shared: item.parameters ?? [] })),
  );
}

it(`${requests} requests of two users, as the document says and not quite`, async () => {
  const server = await serve({
    schema: readFileSync("svc.schema.yaml", "utf8"),
    config: `${readFileSync("svc.toml", "utf8")}\n[api]\npublic_openapi = true\n`,
  });
  const document = (await (await server.request("/openapi.json")).json()) as Part;
  const people = [await settle(server, "qadaq"), await settle(server, "qbobq")] as const;
  const operations = operationsOf(document);
  const began = performance.now();
  const statuses = new Map<number, number>();
  for (let i = 0; i < requests; i++) {
    const me = random.pick(people);
    const other = people.find((person) => person !== me)!;
    // Ids of the other one's rows are known, words of them are not.
    // Nor who they are: whoever knows that may make them a member of a room, who then sees it.
    const known = [...me.known, ...other.known.filter((text) => !isTelling(text, other))];
    const isOfTable = random.chance(0.7);
    const { path, method, operation, shared } = random.pick(
      operations.filter((each) => each.path.startsWith("/api/") === isOfTable),
    );
    const parameters = [...shared, ...(operation.parameters ?? [])].map((each) => referred(document, each));
    const place = path.replace(/\{\w+\}/g, () =>
      encoded(random.chance(0.8) ? random.pick(known) : random.pick(hostile)),
    );
    const url = place + queryOf(document, parameters, known);
    const [type, content] = Object.entries<Part>(operation.requestBody?.content ?? {})[0] ?? [];
    const body = content === undefined ? undefined : valueFor(document, content.schema, known);
    const headers = {
      ...(random.chance(0.9) ? me.session.bearer : {}),
      ...(type !== undefined && { "Content-Type": type }),
    };
    const response = await server.request(url, {
      method: method.toUpperCase(),
      headers,
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const what = `${method} ${url.slice(0, 300)} ${JSON.stringify(body)?.slice(0, 300)} → ${response.status}`;
    expect(response.status, `${what} ${text}`).toBeLessThan(500);
    expect(text.includes(other.mark), `${what} shows ${other.mark}: ${text}`).toBe(false);
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    if (response.status === 401) {
      const answer = await server.request("/auth/login", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ email: me.email, password }),
      });
      // Throttled for a while, as an attacker would be.
      if (answer.status === 429) server.clock.advance(600_000);
      if (answer.status !== 200) continue;
      const { data } = (await answer.json()) as Part;
      me.session = { ...me.session, bearer: { Authorization: `Bearer ${data.access_token}` } };
    }
  }
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  figure(
    "strength",
    "the API fuzzed from its OpenAPI document, two users",
    `${requests} requests in ${seconds} s; 5xx 0; undocumented 0; rows of the other user 0; statuses ${counts.join(", ")}`,
  );
  // It is no fuzz of one answer.
  expect(statuses.get(200)! + (statuses.get(201) ?? 0)).toBeGreaterThan(requests / 20);
});
