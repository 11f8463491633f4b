import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionOptions,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from "node:http2";
import { request as https } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import type { HttpBindings } from "@hono/node-server";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createHttpServer } from "../../src/node/server/http-server.js";
import { remoteAddress } from "../../src/node/server/http2.js";
import { drained, listenAt } from "../../src/node/server/listening.js";
import { certificate } from "../support/certificate.js";
import { MemoryLog } from "../support/server.js";

type Options = Partial<Parameters<typeof createHttpServer>[0]>;

/** A server that answers with what it was asked. */
async function served(options: Options = {}) {
  const echo = async (request: Request) => {
    const { pathname, host } = new URL(request.url);
    const body = await request.text();
    return new Response(`${request.method} ${host === "" ? "" : pathname} ${body}`, { headers: { "X-Of": "app" } });
  };
  const tls = await certificate();
  const make = () => createHttpServer({ fetch: echo, tls, connectionsMax: 100, log: new MemoryLog(), ...options });
  const { servers, port } = await listenAt(make, ["127.0.0.1"], 0);
  onTestFinished(() => void servers[0]!.close());
  return { servers, port, url: `https://localhost:${port}` };
}

function client(url: string, options: ClientSessionOptions = {}): ClientHttp2Session {
  const session = connect(url, { ...options, rejectUnauthorized: false });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** The status, and the body. */
async function answered(stream: ClientHttp2Stream): Promise<readonly [number | undefined, string]> {
  stream.on("error", () => {});
  const [headers] = (await once(stream, "response")) as [{ ":status"?: number }];
  return [headers[":status"], await text(stream)];
}

const ask = (session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string) => {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return answered(stream);
};

describe("HTTP/2", () => {
  it("answers many requests of one connection, beside HTTP/1.1 on the same port", async () => {
    const { url, port } = await served();
    const session = client(url);
    const all = Array.from({ length: 250 }, (_, i) => ask(session, { ":path": `/${i}`, ":method": "POST" }, `b${i}`));
    expect(await Promise.all(all)).toEqual(all.map((_, i) => [200, `POST /${i} b${i}`]));
    expect(session.remoteSettings.maxConcurrentStreams).toBe(100);
    const old = https({ port, rejectUnauthorized: false, path: "/old" }).end();
    const [answer] = await once(old, "response");
    expect([answer.httpVersion, await text(answer)]).toEqual(["1.1", "GET /old "]);
  });

  it("refuses a host that is another than :authority", async () => {
    const { url, port } = await served();
    const session = client(url);
    const authority = `localhost:${port}`;
    expect(await ask(session, { ":path": "/", host: authority })).toEqual([200, "GET / "]);
    const refused = JSON.stringify({
      error: { code: "bad_request", message: "the header Host is another than :authority" },
    });
    expect(await ask(session, { ":path": "/", ":authority": authority, host: "other.example" })).toEqual([
      400,
      refused,
    ]);
  });

  it("cancels a request that does not arrive, takes no more of a refused one, and goes on with others of the connection", async () => {
    const carriedOut: string[] = [];
    const fetch = async (request: Request) => {
      carriedOut.push(await request.text());
      return new Response();
    };
    const { url } = await served({ arrival: { maxMs: 100, lookEveryMs: 50 }, fetch });
    const session = client(url);
    const post = { ":path": "/", ":method": "POST" };
    const cancelled = [post, { ...post, host: "other.example", ":authority": "localhost" }].map((headers) => {
      const stream = session.request(headers);
      stream.on("error", () => {});
      stream.resume();
      stream.write("a");
      return new Promise((done) => stream.once("close", () => done(stream.rstCode)));
    });
    expect(await Promise.all(cancelled)).toEqual([constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR]);
    expect(await ask(session, post, "whole")).toEqual([200, ""]);
    expect(carriedOut).toEqual(["whole"]);
  });

  it("answers in the error shape what is no request, and ignores an Expect that it does not know", async () => {
    const { url } = await served();
    const session = client(url);
    const message = "the request is no HTTP that this server speaks";
    const refused = JSON.stringify({ error: { code: "bad_request", message } });
    expect(await ask(session, { ":method": "CONNECT", ":authority": "localhost" }, "")).toEqual([400, refused]);
    expect(await ask(session, { ":path": "/", expect: "x" })).toEqual([200, "GET / "]);
    const fields = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x-${i}`, "1"]));
    expect(await ask(session, { ":path": "/", ...fields })).toEqual([200, "GET / "]);
    const long = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`x-${i}`, "a".repeat(30_000)]));
    // Only before it knows the server's settings does the client send so much.
    const early = client(url, { maxSendHeaderBlockLength: 1_000_000 });
    expect((await ask(early, { ":path": "/", ...long }))[0]).toBe(431);
  });

  it("sends the whole answer to a request whose body is not read, however slowly the client takes it", async () => {
    const answer = "a".repeat(200_000);
    const { url } = await served({ fetch: async () => new Response(answer) });
    const session = client(url, { settings: { initialWindowSize: 1_000 } });
    const stream = session.request({ ":path": "/", ":method": "DELETE" }, { endStream: false });
    stream.on("error", () => {});
    await once(stream, "response");
    const ping = () => new Promise((done) => session.ping(done));
    for (let i = 0; i < 20; i++) await ping();
    let taken = "";
    stream.setEncoding("utf8").on("data", (piece) => (taken += piece));
    await once(stream, "close");
    expect(taken).toBe(answer);
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  });

  it("keeps no connection whose requests were answered before their bodies were read", async () => {
    const { url, servers } = await served({ fetch: () => new Response("no", { status: 413 }) });
    const open = () => new Promise((done) => servers[0]!.getConnections((_, count) => done(count)));
    for (let i = 0; i < 20; i++) {
      const session = client(url);
      const stream = session.request({ ":path": "/", ":method": "POST" });
      stream.end("a".repeat(300_000));
      stream.on("error", () => {});
      await once(stream, "response");
      stream.resume();
      session.destroy();
    }
    await expect.poll(open).toBe(0);
  });

  it("keeps no connection whose client says that it asks for nothing more, and stays", async () => {
    const { port, servers } = await served();
    const socket = connectTls({ port, rejectUnauthorized: false, ALPNProtocols: ["h2"] });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
    await once(socket, "secureConnect");
    const frame = (type: number, payload: readonly number[]) =>
      Buffer.from([0, 0, payload.length, type, 0, 0, 0, 0, 0, ...payload]);
    const [settings, goaway] = [frame(4, []), frame(7, [0, 0, 0, 0, 0, 0, 0, 0])];
    socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), settings, goaway]));
    socket.resume();
    const open = () => new Promise((done) => servers[0]!.getConnections((_, count) => done(count)));
    await expect.poll(open).toBe(0);
  });

  it("knows where a request came from when its connection has gone", async () => {
    let gone = () => {};
    const closed = new Promise<void>((done) => (gone = done));
    let said: (address: string) => void = () => {};
    const address = new Promise<string>((done) => (said = done));
    const fetch = async (_: Request, env: HttpBindings) => {
      await closed;
      said(remoteAddress(env.incoming));
      return new Response();
    };
    const { url } = await served({ fetch: fetch as never });
    const session = client(url);
    session.once("close", gone);
    session.request({ ":path": "/" }).on("error", () => {});
    await once(session, "remoteSettings");
    session.ping(() => session.destroy());
    expect(await address).toBe("127.0.0.1");
  });

  it("ends an answer of which the client takes nothing", async () => {
    const { url } = await served({ stalledMs: 100, fetch: () => new Response("a".repeat(10_000_000)) });
    const session = client(url);
    const stream = session.request({ ":path": "/" });
    stream.on("error", () => {});
    await once(stream, "response");
    stream.pause();
    await once(stream, "close");
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
  });

  it.each([
    ["CANCEL", constants.NGHTTP2_CANCEL],
    ["NO_ERROR", constants.NGHTTP2_NO_ERROR],
  ])("closes a connection that cancels too many requests with %s, and no other one", async (_, code) => {
    const { url } = await served({ fetch: () => new Promise<Response>(() => {}) });
    const [session, other] = [client(url), client(url)];
    const kept = other.request({ ":path": "/" });
    kept.on("error", () => {});
    const goaway = once(session, "goaway");
    const closed = new Promise((done) => session.once("close", done));
    await once(session, "connect");
    for (let i = 0; i < 250 && !session.destroyed && !session.closed; i++) {
      const stream = session.request({ ":path": "/" });
      stream.on("error", () => {});
      setImmediate(() => stream.close(code));
      await new Promise((done) => stream.once("close", done));
    }
    expect((await goaway)[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    await closed;
    expect(other.destroyed).toBe(false);
    expect(kept.destroyed).toBe(false);
  });

  it("answers what is in progress when the server stops, and takes nothing more", async () => {
    let answer: (response: Response) => void = () => {};
    const { url, servers } = await served({ fetch: () => new Promise<Response>((resolve) => (answer = resolve)) });
    const session = client(url);
    const begun = ask(session, { ":path": "/" });
    await once(servers[0]!, "secureConnection").catch(() => {});
    await vi.waitFor(() => expect(String(answer)).toContain("native"));
    const goaway = once(session, "goaway");
    const stopped = drained(servers, async () => {});
    await goaway;
    answer(new Response("late"));
    expect(await begun).toEqual([200, "late"]);
    await stopped;
    expect((servers[0]!.address() as AddressInfo | null) ?? null).toBeNull();
  });
});
