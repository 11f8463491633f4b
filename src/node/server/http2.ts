import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Server as HttpsServer } from "node:https";
import type { TLSSocket } from "node:tls";
import { Refusal } from "../../http/refusal.js";

/** How many requests of one connection are answered at once. */
const streamsMax = 100;
/** How many requests a client may cancel in `resetsWithinMs` before its connection is closed (CVE-2023-44487). */
const resetsMax = 200;
const resetsWithinMs = 10_000;
/** After how long a connection without requests is closed. */
const idleMs = 30_000;
/** How long a connection without requests has to close by itself. */
const lingerMs = 200;
/** How many header fields a request may have. It is Node's default for HTTP/1.1. */
const fieldsMax = 2_000;

/** What HTTP/2 has in common with HTTP/1.1 on the same server. */
export interface Http2Options {
  /** It leaves a request's body as it is, also after the answer. */
  readonly answer: (incoming: Http2ServerRequest, outgoing: Http2ServerResponse) => void;
  readonly headerBytesMax: number;
  /** How long a request may take to arrive as a whole. */
  readonly arrivalMs: number;
  /** After how long a request is ended whose client takes nothing of a waiting answer. */
  readonly stalledMs: number;
}

/** A connection, with the number of its requests in progress. */
interface Connection {
  readonly session: ServerHttp2Session;
  readonly socket: TLSSocket;
  requests: number;
}

/** By server. */
const connections = new WeakMap<object, Set<Connection>>();
const addresses = new WeakMap<object, string>();

/**
 * Answers connections of an HTTPS server by HTTP/2 (RFC 9113) where the client chooses it in the TLS handshake. The
 * others continue with HTTP/1.1.
 */
export function takeHttp2(server: HttpsServer, options: Http2Options): void {
  const settings = { maxConcurrentStreams: streamsMax, maxHeaderListSize: options.headerBytesMax };
  const http2 = createServer({ settings, maxHeaderListPairs: fieldsMax }, (incoming, outgoing) =>
    answerRequest(incoming, outgoing, options),
  );
  const open = new Set<Connection>();
  connections.set(server, open);
  let accepted: TLSSocket;
  http2.on("session", (session) => {
    const connection: Connection = { session, socket: accepted, requests: 0 };
    open.add(connection);
    accepted.once("close", () => open.delete(connection));
    session.setTimeout(idleMs, () => end(connection));
    // Node leaves the socket to a client that says that it will ask for nothing more (GOAWAY).
    session.once("close", () => setTimeout(() => connection.socket.destroy(), lingerMs));
    session.on("stream", (stream) => {
      connection.requests++;
      stream.once("close", () => connection.requests--);
      boundStream(stream, options);
    });
    boundResets(session);
  });
  // Without a listener, the error of one connection would end the process.
  http2.on("sessionError", () => {});
  http2.on("connect", (_: Http2ServerRequest, outgoing: Http2ServerResponse) => refuse(outgoing, noTunnel));
  // As over HTTP/1.1, an unknown Expect header is ignored.
  http2.on("checkExpectation", (incoming: Http2ServerRequest, outgoing: Http2ServerResponse) => {
    answerRequest(incoming, outgoing, options);
  });
  const http1 = server.listeners("secureConnection") as ((socket: TLSSocket) => void)[];
  server.removeAllListeners("secureConnection");
  server.on("secureConnection", (socket: TLSSocket) => {
    if (socket.alpnProtocol === "h2") {
      accepted = socket;
      http2.emit("connection", socket);
    } else for (const each of http1) each.call(server, socket);
  });
}

/** The names of the protocols that the TLS handshake offers, the preferred one first. */
export const alpnProtocols: readonly string[] = ["h2", "http/1.1"];

/** Lets the requests in progress end, and takes no more of them. */
export function endHttp2(server: object): void {
  for (const connection of connections.get(server) ?? []) end(connection);
}

/**
 * Closes a connection once its requests have ended. Of one without any, the socket is destroyed after what was written:
 * where Node has stopped reading from it, it does not notice that the client has gone.
 */
function end({ session, socket, requests }: Connection): void {
  session.close();
  if (requests === 0) setTimeout(() => socket.destroy(), lingerMs);
}

/** The IP address that a request comes from, also after its connection has ended. */
export function remoteAddress(incoming: { readonly socket: { readonly remoteAddress?: string | undefined } }): string {
  return addresses.get(incoming) ?? incoming.socket.remoteAddress ?? "unknown";
}

function answerRequest(incoming: Http2ServerRequest, outgoing: Http2ServerResponse, options: Http2Options): void {
  const address = incoming.socket.remoteAddress;
  if (address !== undefined) addresses.set(incoming, address);
  const refusal = hostRefusal(incoming) ?? sizeRefusal(incoming, options);
  if (refusal === null) options.answer(incoming, outgoing);
  else refuse(outgoing, refusal);
}

/**
 * Cancels a request that does not arrive in time, and one whose client takes nothing of its answer. Once a request is
 * answered, no more of it is taken.
 */
function boundStream(stream: ServerHttp2Stream, { arrivalMs, stalledMs }: Http2Options): void {
  const late = setTimeout(() => {
    if (!hasArrived(stream)) stream.close(constants.NGHTTP2_CANCEL);
  }, arrivalMs);
  stream.once("close", () => clearTimeout(late));
  const onStall = () => {
    if (stream.writableLength > 0) stream.close(constants.NGHTTP2_CANCEL);
    else stream.setTimeout(stalledMs, onStall);
  };
  stream.setTimeout(stalledMs, onStall);
  // The rest of a body that nobody has read is refused once the answer has been sent (RFC 9113, section 8.1).
  stream.once("finish", () => {
    if (!hasArrived(stream)) stream.close(constants.NGHTTP2_NO_ERROR);
    stream.resume();
  });
}

function hasArrived(stream: ServerHttp2Stream): boolean {
  return stream.destroyed || stream.readableEnded || stream.state.remoteClose === 1;
}

const noTunnel = new Refusal("bad_request", "the request is no HTTP that this server speaks");
const noHost = new Refusal("bad_request", "the request names no host in :authority");
const otherHost = new Refusal("bad_request", "the header Host is another than :authority");

/** A Host header has to be the same as `:authority`, because a server in front may have decided by either. */
function hostRefusal({ authority, rawHeaders }: Http2ServerRequest): Refusal | null {
  if (!authority) return noHost;
  const hosts = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === "host");
  return hosts.every((host) => host === authority) ? null : otherHost;
}

function sizeRefusal({ rawHeaders }: Http2ServerRequest, { headerBytesMax }: Http2Options): Refusal | null {
  const bytes = rawHeaders.reduce((sum, text) => sum + text.length, 0);
  return bytes > headerBytesMax
    ? new Refusal("bad_request", `the head is over ${headerBytesMax} bytes`, { status: 431 })
    : null;
}

/** Answers a request with a refusal. */
function refuse(outgoing: Http2ServerResponse, refusal: Refusal): void {
  const response = refusal.toResponse();
  void response.text().then((body) => {
    if (outgoing.stream.destroyed || outgoing.headersSent) return;
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(body);
  });
}

/** Closes a connection whose client cancels too many requests. */
function boundResets(session: ServerHttp2Session): void {
  let sinceMs = 0;
  let resets = 0;
  session.on("stream", (stream) => {
    let isAnswered = false;
    // Node also ends a stream that its client has reset.
    stream.once("finish", () => {
      isAnswered = !stream.closed;
    });
    stream.once("close", () => {
      if (isAnswered) return;
      const nowMs = performance.now();
      if (nowMs - sinceMs > resetsWithinMs) {
        sinceMs = nowMs;
        resets = 0;
      }
      if (++resets <= resetsMax || session.destroyed) return;
      session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
    });
  });
}
