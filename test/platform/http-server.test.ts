import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { RequestBody } from "../../src/http/body.js";
import { isRefusal, methodNotAllowed } from "../../src/http/refusal.js";
import { json } from "../../src/http/respond.js";
import { createHttpServer, type HttpServerOptions } from "../../src/node/server/http-server.js";
import { Listeners } from "../../src/node/server/listeners.js";
import { parseConfig } from "../../src/project/parse-config.js";
import { certificate } from "../support/certificate.js";
import { MemoryLog, serve, signUp } from "../support/server.js";

const body = JSON.stringify({ email: "ada@example.com", password: "correct horse" });
const login = (...headers: string[]) =>
  ["POST /auth/login HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", ...headers, "", ""].join("\r\n");

async function listening(some: Partial<HttpServerOptions> = {}) {
  const log = new MemoryLog();
  const read: unknown[] = [];
  const fetch = async (request: Request) => {
    if (request.method === "TRACE") return methodNotAllowed("POST").toResponse();
    if (request.method !== "GET") read.push(await new RequestBody(request, 1_000).text());
    return json({ status: "ok" });
  };
  const server = await createHttpServer({ fetch, tls: null, connectionsMax: 100, log, ...some });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, server, log, read };
}

/** Everything that the server says until it has answered, or closes. */
async function answerTo(port: number, text: string) {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.write(text, "latin1");
  let said = "";
  for await (const chunk of socket) {
    said += String(chunk);
    const [, length] = /\r\nContent-Length: (\d+)\r\n/i.exec(said) ?? [];
    if (length !== undefined && said.length >= said.indexOf("\r\n\r\n") + 4 + Number(length)) break;
  }
  const [head = "", answer = ""] = said.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = new Headers(lines.map((line) => line.split(": ") as [string, string]));
  return { status: Number(statusLine.split(" ")[1]), headers, body: answer };
}

const hostsThatAreNone = ["", "a b", "127.0.0.1:99999", "127.0.0.1:x", "exämple", "a@127.0.0.1", "127.0.0.1/x", "[::1"];
const get = (host: string) => `GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

it("answers what makes no Request in the error shape, too", async () => {
  const { port, log } = await listening();
  const bad = "bad_request";
  const cases: readonly (readonly [string, number, string])[] = [
    ["GET /health HTTP/1.1\r\n\r\n", 400, bad],
    ["GET /health HTTP/1.0\r\n\r\n", 400, bad],
    ...hostsThatAreNone.map((host) => [get(host), 400, bad] as const),
    ["GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1\r\n\r\n", 400, bad],
    ["GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nX: 1\r\nHOST: a.example\r\n\r\n", 400, bad],
    ["OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400, bad],
    ["GET http://a:99999/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400, bad],
    ["GET /a\\b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400, bad],
    ["CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, bad],
    ["NONE /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400, bad],
    ["no HTTP at all\r\n\r\n", 400, bad],
    [`${login("Content-Length: 5", "Transfer-Encoding: chunked")}0\r\n\r\n`, 400, bad],
    [`${login("Transfer-Encoding: chunked")}zz\r\n`, 400, bad],
    [`GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${"x".repeat(140_000)}\r\n\r\n`, 431, bad],
    ["TRACE /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 405, "method_not_allowed"],
  ];
  for (const [text, status, code] of cases) {
    const answer = await answerTo(port, text);
    const shown = text.slice(0, 60);
    expect([shown, answer.status]).toEqual([shown, status]);
    expect(JSON.parse(answer.body), shown).toEqual({ error: { code, message: expect.stringMatching(/./) } });
    expect(Object.fromEntries(answer.headers), shown).toMatchObject({
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
  }
  const expecting = "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: tea\r\n\r\n";
  expect((await answerTo(port, expecting)).status).toBe(200);
  expect((await answerTo(port, get("127.0.0.1"))).status).toBe(200);
  expect(log.lines).toEqual([]);
});

it("takes a request without Content-Length and Transfer-Encoding for one without a body", async () => {
  const page = "https://app.example.com";
  const served = await serve({
    schema: "notes: { columns: { id: { type: integer, primary_key: true } } }",
    config: `auth.cookie_mode = true\ncors.allowed_origins = ["${page}"]`,
  });
  const fetch = (request: Request) => {
    const { method, headers, body } = request;
    return served.request(new URL(request.url).pathname, {
      method,
      headers,
      body,
      duplex: "half",
    });
  };
  const server = await createHttpServer({ fetch, tls: null, connectionsMax: 100, log: new MemoryLog() });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const refreshed = async (refreshToken: string, ...headers: string[]) => {
    const head = [`POST /auth/refresh HTTP/1.1`, "Host: 127.0.0.1", `Origin: ${page}`, ...headers];
    const cookie = `Cookie: svc_refresh=${refreshToken}`;
    const answer = await answerTo(port, [...head, cookie, "", ""].join("\r\n"));
    expect({ headers, status: answer.status }).toEqual({ headers, status: 200 });
    return (JSON.parse(answer.body) as { data: { refresh_token: string } }).data.refresh_token;
  };
  const { refreshToken } = await signUp(served, "ada@example.com");
  const next = await refreshed(refreshToken);
  const last = await refreshed(next, "Content-Type: application/json");
  expect(new Set([refreshToken, next, last]).size).toBe(3);
});

it("reads a body that ends early as a refusal, and logs nothing", async () => {
  const { port, log, read } = await listening();
  for (const beginning of [
    `${login(`Content-Length: ${body.length}`)}{`,
    `${login("Transfer-Encoding: chunked")}1\r\n{\r\n`,
  ]) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    await new Promise<void>((written) => socket.write(beginning, () => written()));
    // The server has it once it has answered somebody who came later.
    expect((await answerTo(port, get("127.0.0.1"))).status).toBe(200);
    socket.destroy();
  }
  const cutOff = expect.objectContaining({ code: "bad_request", message: "the body ended early" });
  await expect.poll(() => read).toEqual([cutOff, cutOff]);
  expect(log.lines).toEqual([]);
});

it("a head or a body that takes too long to arrive is 408", async () => {
  const { port, log, read } = await listening({ arrival: { maxMs: 100, lookEveryMs: 20 } });
  const slow = [
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    `${login("Content-Length: 100")}{`,
    `${login("Transfer-Encoding: chunked")}1\r\n{\r\n`,
  ];
  for (const text of slow) {
    const answer = await answerTo(port, text);
    expect(answer.status).toBe(408);
    expect(JSON.parse(answer.body)).toEqual({
      error: { code: "bad_request", message: "the request took too long to arrive" },
    });
  }
  // A body of which nothing came in time is not read at all.
  expect(read.filter((text) => !isRefusal(text))).toEqual([]);
  expect(log.lines).toEqual([]);
});

it("connections past the limit are closed as they come, until others have ended, and the log says so once", async () => {
  const { port, log } = await listening({ connectionsMax: 2 });
  const open = async () => {
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
    await once(socket, "connect");
    return socket;
  };
  const [first, second] = [await open(), await open()];
  expect(await answerTo(port, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")).toMatchObject({ body: "" });
  expect(await answerTo(port, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")).toMatchObject({ body: "" });
  first.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  await Promise.all([once(first, "close"), first.resume()]);
  second.destroy();
  expect((await answerTo(port, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")).status).toBe(200);
  expect(log.lines).toEqual(["connections are refused: there are 2 already (server.max_connections)"]);
});

it("speaks TLS with ciphers alone that keep past traffic secret, also with a renewed certificate", async () => {
  const tls = await certificate();
  const listeners = new Listeners(parseConfig("").config!, tls, new MemoryLog());
  onTestFinished(() => listeners.close());
  const port = Number(new URL(await listeners.listen({ host: "127.0.0.1", port: 0 }, () => json({}))).port);
  const agreed = (maxVersion: "TLSv1.2" | "TLSv1.3", ciphers?: string) =>
    new Promise<string>((resolve, fail) => {
      const socket = connectTls({ port, maxVersion, rejectUnauthorized: false, ...(ciphers && { ciphers }) });
      onTestFinished(() => void socket.destroy());
      socket.once("error", fail);
      socket.once("secureConnect", () => resolve(socket.getCipher().name));
    });
  for (const renew of [() => {}, () => listeners.renewCertificate(tls)]) {
    renew();
    expect(await agreed("TLSv1.3")).toBe("TLS_AES_256_GCM_SHA384");
    expect(await agreed("TLSv1.2")).toMatch(/^ECDHE-.*(GCM|CHACHA20)/);
    for (const weak of ["AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA", "AES256-SHA"])
      await expect(agreed("TLSv1.2", weak), weak).rejects.toThrow(/handshake failure/);
  }
});

it("ends a connection whose client takes nothing of its answer, and none that waits for one", async () => {
  let computed = () => {};
  const slow = new Promise<Response>((resolve) => {
    computed = () => resolve(json({ status: "late" }));
  });
  const fetch = (request: Request) => (request.url.endsWith("/slow") ? slow : new Response("x".repeat(64_000_000)));
  const { port, server } = await listening({ fetch, stalledMs: 100 });
  const waiting = answerTo(port, get("127.0.0.1").replace("/health", "/slow"));
  await once(server, "connection");
  const [[held]] = await Promise.all([
    once(server, "connection") as Promise<[Socket]>,
    connectPaused(port, get("127.0.0.1")),
  ]);
  await once(held, "close");
  computed();
  expect((await waiting).body).toBe('{"status":"late"}');
});

/** A client that sends a request, and reads nothing. */
async function connectPaused(port: number, text: string): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.pause();
  socket.write(text);
}
