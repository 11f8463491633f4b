import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError } from "@hono/node-server";
import { Refusal } from "../http/refusal.js";
import type { Log } from "../platform/platform.js";

/** Header lines hold a filter's thousand values. */
const headerBytesMax = 131_072;

export interface HttpServerOptions {
  readonly fetch: Parameters<typeof getRequestListener>[0];
  /** In PEM; null serves plain HTTP. */
  readonly tls: { readonly cert: string | Buffer; readonly key: string | Buffer } | null;
  readonly log: Log;
}

/**
 * Node's HTTP server, which answers in the error shape what never becomes a Request, too: hosts and targets that make no URL,
 * and what is no HTTP.
 */
export async function createHttpServer({ fetch, tls, log }: HttpServerOptions): Promise<Server> {
  const listener = getRequestListener(fetch, { errorHandler: (error) => refusalOf(error, log).toResponse() });
  // A request without the header Host is answered by the listener; by Node it would be without a body.
  const options = { maxHeaderSize: headerBytesMax, requireHostHeader: false };
  const server =
    tls === null
      ? createServer(options, listener)
      : // Loaded late: with it comes what few servers need.
        (await import("node:https")).createServer({ ...options, ...tls }, listener);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    void answerRaw(socket, unreadable(error));
  });
  server.on("connect", (_: IncomingMessage, socket: Duplex) => {
    void answerRaw(socket, notHttp);
  });
  // A server may answer as if it had been expected nothing of (RFC 9110, section 10.1.1).
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response);
  });
  return server;
}

function refusalOf(error: unknown, log: Log): Refusal {
  if (error instanceof RequestError)
    return new Refusal("bad_request", "the header Host and the request's target make no URL");
  log.error("a request failed", error);
  return new Refusal("internal", "something went wrong");
}

const notHttp = new Refusal("bad_request", "the request is no HTTP that this server speaks");

/** The statuses are Node's own. */
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

/** To a socket that has no response of Node's; one on which an answer has begun, or that is gone, is closed. */
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
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
