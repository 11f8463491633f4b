import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, rowsOf } from "../../support/people.js";
import { apiKey, inWorkerd, serve, skip } from "../../support/server.js";

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
describe("a body over max_body_bytes", () => {
  const json = { "Content-Type": "application/json" };
  const ofBytes = (bytes: number) => `{"t":"${"x".repeat(bytes - 8)}"}`;
  const chunked = (chunks: readonly string[]): RequestInit => {
    const rest = [...chunks];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = rest.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(chunk));
      },
    });
    return { body, headers: json, duplex: "half" } as RequestInit;
  };

  it("is 413 where its length is declared, and the handler sees nothing of it", async () => {
    const { server, raw } = await docs();
    expectRefusal(await raw(ofBytes(2049), { ...json, "Content-Length": "2049" }), 413, "payload_too_large");
    expectRefusal(await raw(ofBytes(2049)), 413, "payload_too_large");
    expectRefusal(await raw("x".repeat(100_000)), 413, "payload_too_large");
    expect(await countOf(server, "docs")).toBe(0);
  });

  it("is 413 where it comes in chunks", async () => {
    const { server, key } = await docs();
    const text = ofBytes(4096);
    const chunks = Array.from({ length: 64 }, (_, n) => text.slice(n * 64, n * 64 + 64));
    expectRefusal(await key.send("POST", "/api/docs", chunked(chunks)), 413, "payload_too_large");
    // Bodies under /auth are small whatever the limit is.
    const long = Array.from({ length: 64 }, () => text.slice(0, 1024));
    expectRefusal(await key.send("POST", "/auth/login", chunked(long)), 413, "payload_too_large");
    expect(await countOf(server, "docs")).toBe(0);
    expect(server.log.lines).toEqual([]);
  });

  it("is 413 where it never ends", async () => {
    if (inWorkerd) skip("whether an answer may come before the body's end is the runtime's");
    const { server, key } = await docs();
    const body = new ReadableStream<Uint8Array>({ pull: (stream) => stream.enqueue(new Uint8Array(1024)) });
    const init = { body, headers: json, duplex: "half" } as RequestInit;
    expectRefusal(await key.send("POST", "/api/docs", init), 413, "payload_too_large");
    expect(await countOf(server, "docs")).toBe(0);
  });

  it("counts bytes, not characters", async () => {
    const { server, raw } = await docs();
    expectRefusal(await raw(`{"t":"${"é".repeat(1021)}"}`), 413, "payload_too_large");
    expectAnswer(await raw(`{"t":"${"é".repeat(1020)}"}`), 201, { data: { ...empty, t: "é".repeat(1020) } });
    expect(await countOf(server, "docs")).toBe(1);
  });

  it("of exactly the limit is taken, declared or in chunks", async () => {
    const { server, key, raw } = await docs();
    expect((await raw(ofBytes(2048))).status).toBe(201);
    const text = ofBytes(2048);
    expect((await key.send("POST", "/api/docs", chunked([text.slice(0, 9), text.slice(9)]))).status).toBe(201);
    expect(await rowsOf(server, "SELECT length(t) FROM docs")).toEqual([[2040], [2040]]);
  });

  it("in chunks that cut a character is read as one text", async () => {
    const { server, key } = await docs();
    const bytes = new TextEncoder().encode('{"t":"é😀"}');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const init = { body, headers: json, duplex: "half" } as RequestInit;
    expectAnswer(await key.send("POST", "/api/docs", init), 201, { data: { ...empty, t: "é😀" } });
    expect(await countOf(server, "docs")).toBe(1);
  });
});

it("a string of many megabytes is a body like any other, where the limit allows it", async (context) => {
  const server = await serve({ ...project, config: "usage.enabled = false\napi.max_body_bytes = 16777216" });
  if (server.database.answerBytesMax < 8_000_000) context.skip("no answer of this database is so long");
  const key = client(server, await apiKey(server, "project:backend"));
  const t = "\n".repeat(8_000_000);
  const answer = await key.post("/api/docs?", { t });
  expect({ status: answer.status, length: answer.text.length }).toEqual({
    status: 201,
    length: JSON.stringify({ data: { ...empty, t } }).length,
  });
});
