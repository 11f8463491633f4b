import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError } from "@hono/node-server";
import { Refusal } from "../../http/refusal.js";
import type { Log } from "../../platform/platform.js";
import { alpnProtocols, takeHttp2 } from "./http2.js";

/** For the URL and the headers: enough for a filter with 1000 values in the URL. */
const headerBytesMax = 131_072;

/** How long a request may take to arrive as a whole. */
const arrivalSecondsMax = 25;
/** How often Node looks for requests that take too long to arrive: one over 25 seconds is ended within 30. */
const lookEverySeconds = 5;
/** After how long a connection is closed whose client takes nothing of an answer that waits to be sent. */
const answerStalledMs = 30_000;
/** The log mentions refused connections at most once in this time. */
const sayEveryMs = 60_000;

/**
 * All of TLS 1.3, and of TLS 1.2 those with forward secrecy, which keep past traffic secret even when the certificate's
 * private key leaks.
 */
const ciphers =
  "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20";

/** A certificate and its private key, in PEM format. */
export interface Certificate {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** With which certificate and ciphers a server speaks TLS, from its start on and after its certificate was renewed. */
export const tlsOptions = ({ cert, key }: Certificate) => ({ cert, key, ciphers, ALPNProtocols: [...alpnProtocols] });

/** What an HTTP server needs. */
export interface HttpServerOptions {
  readonly fetch: Parameters<typeof getRequestListener>[0];
  /** Null serves plain HTTP. */
  readonly tls: Certificate | null;
  /** Further connections are closed as soon as they come. */
  readonly connectionsMax: number;
  /** How long a request may take to arrive, and how often the server looks; 25 and 5 seconds by default. */
  readonly arrival?: { readonly maxMs: number; readonly lookEveryMs: number };
  /** After how long a connection is closed whose client takes nothing of a waiting answer; 30,000 by default. */
  readonly stalledMs?: number;
  readonly log: Log;
}

/**
 * Makes Node's HTTP server. It answers in this server's error format even if `fetch` cannot be called: if the Host
 * header and the target make no valid URL, or the request is not valid HTTP.
 */
export async function createHttpServer({
  fetch,
  tls,
  connectionsMax,
  stalledMs = answerStalledMs,
  arrival = { maxMs: arrivalSecondsMax * 1000, lookEveryMs: lookEverySeconds * 1000 },
  log,
}: HttpServerOptions): Promise<Server> {
  const errorHandler = (error: unknown) => refusalOf(error, log).toResponse();
  const answer = getRequestListener(fetch, { errorHandler });
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (hasTwoHosts(incoming)) return refuse(outgoing, notHttp);
    // Called when nothing was sent to the client for `stalledMs`. While the answer is still being computed, nothing
    // waits to be sent, and the time begins anew.
    outgoing.setTimeout(stalledMs, () => {
      if ((outgoing.socket?.writableLength ?? 0) > 0) outgoing.socket?.destroy();
      else outgoing.socket?.setTimeout(stalledMs);
    });
    return answer(incoming, outgoing);
  };
  // With `requireHostHeader`, Node would answer a request without a Host header with an empty body instead of this
  // server's error format.
  const options = {
    maxHeaderSize: headerBytesMax,
    requireHostHeader: false,
    requestTimeout: arrival.maxMs,
    headersTimeout: arrival.maxMs,
    connectionsCheckingInterval: arrival.lookEveryMs,
  };
  const server = tls === null ? createServer(options, listener) : await secureServer(tls);
  server.maxConnections = connectionsMax;
  let saidAtMs = Number.NEGATIVE_INFINITY;
  server.on("drop", () => {
    const nowMs = performance.now();
    if (nowMs - saidAtMs < sayEveryMs) return;
    saidAtMs = nowMs;
    log.warn(`connections are refused: there are ${connectionsMax} already (server.max_connections)`);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    void answerRaw(socket, unreadable(error));
  });
  server.on("connect", (_: IncomingMessage, socket: Duplex) => {
    void answerRaw(socket, notHttp);
  });
  // A request with an unknown Expect header is answered as if it had none, which RFC 9110, section 10.1.1, allows.
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response);
  });
  return server;

  /** Few servers speak TLS themselves. */
  async function secureServer(certificate: Certificate): Promise<Server> {
    const { createServer: createSecureServer } = await import("node:https");
    const secure = createSecureServer({ ...options, ...tlsOptions(certificate) }, listener);
    // The cleanup of @hono/node-server may destroy a stream before its answer has been sent.
    const answerHttp2 = getRequestListener(fetch, { errorHandler, autoCleanupIncoming: false });
    takeHttp2(secure, { answer: answerHttp2, headerBytesMax, arrivalMs: arrival.maxMs, stalledMs });
    return secure;
  }
}

/**
 * Whether a request has more than one line `Host`, which has to be refused (RFC 9112, section 3.2). Node would take the
 * first one, and another server in front may have taken the last.
 */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count > 1;
}

function refusalOf(error: unknown, log: Log): Refusal {
  if (error instanceof RequestError)
    return new Refusal("bad_request", "the header Host and the request's target make no URL");
  log.error("a request failed", error);
  return new Refusal("internal", "something went wrong");
}

const notHttp = new Refusal("bad_request", "the request is no HTTP that this server speaks");

/** The refusal for a request that Node cannot parse. */
function unreadable({ code }: NodeJS.ErrnoException): Refusal {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new Refusal("bad_request", `the head is over ${headerBytesMax} bytes`, { status: 431 });
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Refusal("bad_request", "the request took too long to arrive", { status: 408 });
    default:
      return notHttp;
  }
}

/** Answers a request with a refusal, and closes its connection. */
async function refuse(outgoing: ServerResponse, refusal: Refusal): Promise<void> {
  const response = refusal.toResponse();
  const body = await response.text();
  const headers = { ...Object.fromEntries(response.headers), "Content-Length": Buffer.byteLength(body) };
  outgoing.writeHead(response.status, { ...headers, Connection: "close" });
  outgoing.end(body);
}

/**
 * Writes a refusal to a socket for which Node has made no response object. A socket that is gone, or on which a
 * response has begun, is closed.
 */
async function answerRaw(socket: Duplex, refusal: Refusal): Promise<void> {
  const { _httpMessage: begun } = socket as { _httpMessage?: ServerResponse | null };
  const response = refusal.toResponse();
  const body = await response.text();
  if (!socket.writable || begun?.headersSent) {
    socket.destroy();
    return;
  }
  const { status, headers } = response;
  const lines = [...headers, ["Content-Length", String(Buffer.byteLength(body))], ["Connection", "close"]];
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
