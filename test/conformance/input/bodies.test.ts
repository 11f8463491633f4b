import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const project = {
  schema: `
docs:
  columns:
    id: { type: integer, primary_key: true }
    t: { type: text }
    i: { type: integer }
    r: { type: real }
    j: { type: json }
`,
  config: "usage.enabled = false\napi.max_body_bytes = 2048\nauth.throttle.enabled = false",
};

async function docs() {
  const server = await serve(project);
  const key = client(server, await apiKey(server, "project:backend"));
  const raw = (body: string | Uint8Array, headers: Record<string, string> = { "Content-Type": "application/json" }) =>
    key.send("POST", "/api/docs", { body, headers });
  return { server, key, raw };
}

const empty = { id: 1, t: null, i: null, r: null, j: null };
const nested = (depth: number) => `{"j":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

describe("JSON that is refused", () => {
  it.each([
    ["no text at all", ""],
    ["white space", "  "],
    ["not JSON", "{t:1}"],
    ["a trailing comma", '{"t":"a",}'],
    ["single quotes", "{'t':'a'}"],
    ["two values", '{"t":"a"}{"t":"b"}'],
    ["a comment", '{"t":"a"}//'],
    ["NaN", '{"r":NaN}'],
    ["Infinity", '{"r":Infinity}'],
    ["a leading zero", '{"i":01}'],
    ["a plus sign", '{"i":+1}'],
    ["a byte order mark", '\ufeff{"t":"a"}'],
    ["an array", "[]"],
    ["an array of what is no row", '[{"t":"a"},["b"]]'],
    ["a string", '"t"'],
    ["a number", "1"],
    ["null", "null"],
    ["true", "true"],
    ["nesting of 65", nested(65)],
    ["nesting of objects of 65", `${'{"j":'.repeat(65)}1${"}".repeat(65)}`],
    ["nesting of 900", nested(900)],
    ["brackets without end", "[".repeat(2000)],
    ["a key twice", '{"t":"a","t":"b"}'],
    ["a key twice with the same value", '{"t":"a","t":"a"}'],
    ["a key twice, once escaped", '{"t":"a","\\u0074":"b"}'],
    ["a key twice, both escaped", '{"\\u0074":"a","\\u0074":"b"}'],
    ["a key twice inside a JSON value", '{"j":{"a":{"b":1,"c":[],"b":2}}}'],
    ["a key twice inside an array", '{"j":[{"é":1,"\\u00e9":2}]}'],
    ["a key twice with an escaped slash", '{"j":{"/":1,"\\/":2}}'],
    ["__proto__ twice", '{"j":{"__proto__":1,"__proto__":2}}'],
    ["a lone high surrogate", '{"t":"a\\ud800"}'],
    ["a lone low surrogate", '{"t":"\\udc00a"}'],
    ["surrogates the wrong way round", '{"t":"\\udc00\\ud800"}'],
    ["a lone surrogate in a key", '{"j":{"\\uD800":1}}'],
    ["a lone surrogate deep inside", '{"j":[[{"a":"\\udfff"}]]}'],
    ["NUL", '{"t":"a\\u0000b"}'],
    ["NUL in a key", '{"j":{"\\u0000":1}}'],
    ["NUL deep inside", '{"j":[["\\u0000"]]}'],
    ["2^53 + 1", '{"i":9007199254740993}'],
    ["2^53 for an integer", '{"i":9007199254740992}', ["i"]],
    ["−2^53 for an integer", '{"i":-9007199254740992}', ["i"]],
    ["1e20 for an integer", '{"i":1e20}', ["i"]],
    ["2^63", '{"i":9223372036854775808}'],
    ["2^53 + 1 for a real", '{"r":9007199254740993}'],
    ["an unsafe integer inside a JSON value", '{"j":[{"a":-9007199254740993}]}'],
    ["twenty digits inside a JSON value", '{"j":12345678901234567890}'],
    ["1e400", '{"r":1e400}'],
    ["-1e400", '{"r":-1e400}'],
    ["1e400 inside a JSON value", '{"j":[1E400]}'],
    ["400 digits", `{"r":1${"0".repeat(400)}}`],
  ])("%s is 400, and the list still answers", async (_, body, columns: string[] = []) => {
    const { server, key, raw } = await docs();
    expectRefusal(await raw(body), 400, "bad_request", columns);
    expectRefusal(
      await key.send("PATCH", "/api/docs/1", { body, headers: { "Content-Type": "application/json" } }),
      400,
      "bad_request",
      columns,
    );
    expectAnswer(await key.get("/api/docs"), 200, { data: [], meta: { limit: 50, offset: 0, total: 0 } });
    expect(server.log.lines).toEqual([]);
  });

  it.each([
    ["a cut sequence", [0x7b, 0x22, 0x74, 0x22, 0x3a, 0x22, 0xc3, 0x22, 0x7d]],
    ["an overlong slash", [0x7b, 0x22, 0x74, 0x22, 0x3a, 0x22, 0xc0, 0xaf, 0x22, 0x7d]],
    ["an encoded surrogate", [0x7b, 0x22, 0x74, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d]],
    ["a sequence that ends with the body", [0x7b, 0x7d, 0xe2, 0x82]],
    ["UTF-16", [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])("bytes that are not UTF-8 (%s) are 400", async (_, bytes) => {
    const { server, raw } = await docs();
    expectRefusal(await raw(Uint8Array.from(bytes)), 400, "bad_request");
    expect(await countOf(server, "docs")).toBe(0);
  });
});

describe("JSON that is taken", () => {
  it.each([
    ["nesting of 64", nested(64), { j: JSON.parse(nested(64)).j as unknown }],
    ["white space", ' \n\t{ "t" : "a" }\r\n ', { t: "a" }],
    ["a surrogate pair, escaped", '{"t":"\\ud83d\\ude00"}', { t: "😀" }],
    ["an escaped key", '{"\\u0074":"a"}', { t: "a" }],
    ["brackets and quotes inside of strings", '{"t":"[{\\"a\\":1,\\"a\\":2}]\\\\"}', { t: '[{"a":1,"a":2}]\\' }],
    ["the same key in two objects", '{"j":[{"a":1},{"a":{"a":2}}]}', { j: [{ a: 1 }, { a: { a: 2 } }] }],
    ["keys that differ by case", '{"j":{"a":1,"A":2}}', { j: { a: 1, A: 2 } }],
    ["keys in two normal forms", '{"j":{"\\u00e9":1,"e\\u0301":2}}', { j: { é: 1, "e\u0301": 2 } }],
    ["2^53 − 1", '{"i":9007199254740991}', { i: Number.MAX_SAFE_INTEGER }],
    ["an exponent for a whole number", '{"i":1e3}', { i: 1000 }],
    ["a real as JSON.stringify writes 1e20", '{"r":100000000000000000000}', { r: 1e20 }],
    ["an unknown escape of text", '{"t":"\\/\\b"}', { t: "/\b" }],
    ["noncharacters", '{"t":"\\ufffe\\uffff"}', { t: "\ufffe\uffff" }],
  ])("%s", async (_, body, columns) => {
    const { raw } = await docs();
    expectAnswer(await raw(body), 201, { data: { ...empty, ...columns } });
  });
});

describe("the media type", () => {
  it.each([
    undefined,
    "",
    "text/plain",
    "text/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json5",
    "application/json, text/plain",
    "application/json; charset=utf-16",
    "application/ld+json",
    "text/plain; application/json",
  ])("%s is 415, for rows and for authentication, and writes nothing", async (type) => {
    const { server, key } = await docs();
    const bytes = new TextEncoder().encode('{"t":"a"}');
    const init = { body: bytes, headers: type === undefined ? {} : { "Content-Type": type } };
    for (const [method, path] of [
      ["POST", "/api/docs"],
      ["PATCH", "/api/docs/1"],
      ["POST", "/auth/register"],
      ["POST", "/auth/login"],
      ["POST", "/auth/refresh"],
      ["POST", "/auth/logout"],
    ] as const)
      expectRefusal(await key.send(method, path, init), 415, "unsupported_media_type");
    expect(await countOf(server, "docs")).toBe(0);
    expect(await countOf(server, "_users")).toBe(0);
  });

  it.each([
    "application/json",
    "APPLICATION/JSON",
    "application/json;charset=utf-8",
    'application/json; charset="UTF-8"',
  ])("%s is taken", async (type) => {
    const { raw } = await docs();
    expectAnswer(await raw('{"t":"a"}', { "Content-Type": type }), 201, { data: { ...empty, t: "a" } });
  });
});
