import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { readCredential } from "../../src/auth/callers/credential.js";
import { createAccessTokens } from "../../src/auth/sessions/access-token.js";
import { parseQueryString } from "../../src/http/query-string.js";
import { isRefusal } from "../../src/http/refusal.js";
import { parseStrictJson } from "../../src/http/strict-json.js";
import { nodeCipher } from "../../src/node/cipher.js";
import { parseConfig } from "../../src/project/parse-config.js";
import { parseSchema } from "../../src/project/parse-schema.js";
import { rowShapes, ruleScope } from "../../src/project/rule-scope.js";
import { defineConditions } from "../../src/rules/define-conditions.js";
import { parseRule } from "../../src/rules/parse-rule.js";
import { openCursor, sealCursor } from "../../src/tables/list/cursor.js";
import { type ListBody, parseListRequest } from "../../src/tables/request/list-request.js";
import { Random } from "../property/support/random.js";
import { figure } from "../support/figures.js";

/**
 * Inputs with some bytes of them changed, for everything that reads text of strangers or of the owner. `INPUTS` is for each;
 * `npm run test:faults` runs 10,000. How many milliseconds the longest of each took is printed, and with `SHOW=1` the input itself.
 */
const inputs = Number(process.env.INPUTS ?? 100);
const random = new Random(Random.seedOfRun());
vi.setConfig({ testTimeout: 900_000 + 10 * inputs * 100 });

const schemaText = readFileSync("svc.schema.yaml", "utf8");
const configText = readFileSync("svc.toml", "utf8");
const { schema } = parseSchema(schemaText);
const messages = schema!.tables.get("messages")!;

/** What a parser may stumble over, beside what the inputs hold themselves. */
const pieces = [
  ..."\0\t\n\r \"'`\\/[]{}()<>=,;:.#&%?*!|-_+~^$@",
  "\ud800",
  "\u202e",
  "é",
  "__proto__",
  "constructor",
  "toString",
  "[__proto__]",
  '{"__proto__":',
  "%00",
  "%ff",
  "%",
  "---\n",
  "<<: *a",
  "&a [*a]",
  "!!binary ",
  "1e999",
  "-0",
  "0x1",
  "9007199254740993",
  "null",
  "true",
  '"""',
  "'''",
  "exists(",
  "not not not ",
  "((((((((((",
  "eyJhbGciOiJub25lIn0",
];

function mutated(text: string): string {
  let changed = text;
  for (let left = random.int(1, 4); left > 0; left--) {
    const at = random.int(0, changed.length);
    const end = Math.min(changed.length, at + random.int(0, 12));
    const [head, tail] = [changed.slice(0, at), changed.slice(end)];
    const kind = random.int(0, 5);
    if (kind === 0) changed = head + tail;
    else if (kind === 1) changed = head + random.pick(pieces) + changed.slice(at);
    else if (kind === 2) changed = head + random.pick(pieces) + tail;
    else if (kind === 3) changed = head + changed.slice(at, end).repeat(random.int(2, 40)) + tail;
    else if (kind === 4) changed = head + random.pick(pieces).repeat(random.int(2, 200)) + tail;
    else changed = head + changed.slice(random.int(0, changed.length)).slice(0, 200) + tail;
  }
  return changed;
}

const rules = [
  "row.author_id = auth.id and new.room_id = row.room_id",
  "exists(room_members m where m.room_id = row.room_id and (m.user_id = auth.id or m.role in ('a', 'b')))",
  "not (row.created_at > now() - 1) or row.body is not null",
];

const lists = [
  "?where[room_id]=a&filter[created_at][gte]=5&filter[id][in]=1,2,3&select=id,body&sort=-created_at,id&limit=10&offset=3",
  '?filter[body][in]=["a,b","c"]&filter[body][contains]=%25&filter[author_id][is_null]=true',
  "?cursor=abcdefghijklmnopqrstuvwxyz",
];

const listBodies = [
  '{"filter":{"$or":[{"room_id":{"eq":"a"}},{"created_at":{"gt":3,"in":[1,2]}}],"$not":{"body":{"is_null":true}}},"where":{"id":1}}',
  '{"select":["id","body"],"sort":["-created_at","id"],"limit":10,"offset":3,"total":"none"}',
  '{"cursor":"abcdefghijklmnopqrstuvwxyz"}',
];

const bodies = [
  '{"room_id":"a","author_id":"b","body":"\\u00e9\\n","created_at":1700000000,"more":[1,2.5,{"a":{"b":[null,true]}}]}',
];

const cipher = nodeCipher(new Uint8Array(32));
const binding = { principal: "user:a", table: "messages", schemaVersion: 1 };
const cursor = sealCursor(
  cipher,
  {
    parameters: [["limit", "1"]],
    window: { after: "[1]", upTo: null, counted: true, skip: 0 },
    offset: 1,
    total: 2,
    choice: "best",
    order: ["id"],
  },
  binding,
  0,
  new Uint8Array(12),
);

const tokens = createAccessTokens({ current: new Uint8Array(32), previous: null });
const claims = { userId: "a", sessionId: "b", email: "a@example.com", role: "user" };
const token = tokens.issue(claims, "c", Date.now(), 900);

interface Reader {
  readonly name: string;
  readonly seeds: () => Promise<readonly string[]> | readonly string[];
  readonly read: (text: string) => unknown;
}

const readers: readonly Reader[] = [
  { name: "svc.toml", seeds: () => [configText], read: parseConfig },
  { name: "svc.schema.yaml", seeds: () => [schemaText], read: parseSchema },
  {
    name: "rules",
    seeds: () => rules,
    read: (text) => parseRule(text, ruleScope(schema!, messages, "update")),
  },
  {
    name: "named conditions",
    seeds: () => ["a(x, y) = exists(room_members m where m.room_id = x and (b(y) or b(m.user_id)))"],
    read: (text) => {
      const [key = "", ...body] = text.split(" = ");
      return defineConditions(
        new Map([
          ["b(z)", "z = auth.id"],
          [key, body.join(" = ")],
        ]),
        rowShapes(schema!),
      );
    },
  },
  {
    name: "list parameters",
    seeds: () => lists,
    read: (text) => {
      const parameters = parseQueryString(`http://127.0.0.1/api/messages${text}`);
      return isRefusal(parameters) ? parameters : parseListRequest(parameters, messages.columns, new Map());
    },
  },
  {
    name: "lists as JSON",
    seeds: () => listBodies,
    read: (text) => {
      const parsed = parseStrictJson(text);
      const isBody = !isRefusal(parsed) && parsed.value?.constructor === Object;
      return isBody ? parseListRequest(parsed.value as ListBody, messages.columns, new Map()) : parsed;
    },
  },
  { name: "JSON bodies", seeds: () => bodies, read: parseStrictJson },
  {
    name: "cursors",
    seeds: async () => [await cursor],
    read: async (text) => {
      const opened = await openCursor(cipher, text, binding, 0);
      // Whatever is not the cursor itself opens nothing.
      if (text !== (await cursor)) expect(isRefusal(opened)).toBe(true);
    },
  },
  {
    name: "credentials",
    seeds: async () => [`Bearer ${await token}`, `Bearer svc_sk_${"a".repeat(43)}`],
    read: async (text) => {
      const value = text.replace(/[^\t\x20-\x7e]/g, "~").trim();
      const credential = readCredential(new Headers({ Authorization: value }), {
        access: true,
        console: true,
      });
      if (credential.kind !== "access_token") return;
      const verified = await tokens.verify(credential.token, Date.now());
      if (credential.token !== (await token)) expect(verified).toBeNull();
    },
  },
];

const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype];
const own = () => prototypes.map((prototype) => Reflect.ownKeys(prototype).length);

describe(`${inputs} mutated inputs`, () => {
  it.each(readers)("of $name crash nothing, and touch no prototype", async ({ name, seeds, read }) => {
    const before = own();
    const originals = await seeds();
    let longest = { ms: 0, text: "" };
    const timed = async (text: string): Promise<number> => {
      const from = performance.now();
      try {
        await read(text);
      } catch (error) {
        throw new Error(`${JSON.stringify(text)} threw`, { cause: error });
      }
      return performance.now() - from;
    };
    for (let i = 0; i < inputs; i++) {
      const text = mutated(random.pick(originals));
      const first = await timed(text);
      // What a collector of garbage or another process takes is not the input's.
      const ms = first > longest.ms ? Math.min(first, await timed(text), await timed(text)) : first;
      if (ms > longest.ms) longest = { ms, text };
    }
    expect(own()).toEqual(before);
    figure("strength", `${inputs} mutated ${name}`, `crashes 0; longest ${longest.ms.toFixed(1)} ms`);
    if (process.env.SHOW) console.log(JSON.stringify(longest.text));
  });
});
