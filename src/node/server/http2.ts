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
/** How many requests a client may take back in `resetsWithinMs` before its connection is closed (CVE-2023-44487). */
const resetsMax = 200;
const resetsWithinMs = 10_000;
/** After how long a connection without requests is closed. */
const idleMs = 60_000;

/** What HTTP/2 has in common with HTTP/1.1 on the same server. */
export interface Http2Options {
  readonly answer: (incoming: Http2ServerRequest, outgoing: Http2ServerResponse) => void;
  readonly headerBytesMax: number;
  /** How long a request may take to arrive as a whole. */
  readonly arrivalMs: number;
  /** After how long a request is ended whose client takes nothing of a waiting answer. */
  readonly stalledMs: number;
}

const sessions = new WeakMap<object, Set<ServerHttp2Session>>();

/**
 * Answers connections of an HTTPS server by HTTP/2 (RFC 9113) where the client chooses it in the TLS handshake. The
 * others go on to be HTTP/1.1.
 */
export function takeHttp2(server: HttpsServer, options: Http2Options): void {
  const { headerBytesMax } = options;
  const settings = { maxConcurrentStreams: streamsMax, maxHeaderListSize: headerBytesMax };
  const http2 = createServer({ settings }, (incoming, outgoing) => listen(incoming, outgoing, options));
  const open = new Set<ServerHttp2Session>();
  sessions.set(server, open);
  http2.on("session", (session) => {
    open.add(session);
    session.once("close", () => open.delete(session));
    session.setTimeout(idleMs, () => session.close());
    boundResets(session);
  });
  // A broken connection is its client's matter.
  http2.on("sessionError", () => {});
  const http1 = server.listeners("secureConnection") as ((socket: TLSSocket) => void)[];
  server.removeAllListeners("secureConnection");
  server.on("secureConnection", (socket: TLSSocket) => {
    if (socket.alpnProtocol === "h2") http2.emit("connection", socket);
    else for (const each of http1) each.call(server, socket);
  });
}

/** The names of the protocols that the TLS handshake offers, the preferred one first. */
export const alpnProtocols: readonly string[] = ["h2", "http/1.1"];

/** Lets the requests in progress end, and takes no more of them. */
export function endHttp2(server: object): void {
  for (const session of sessions.get(server) ?? []) session.close();
}

function listen(incoming: Http2ServerRequest, outgoing: Http2ServerResponse, options: Http2Options): void {
  const { stream } = incoming;
  // The compatibility layer of Node reports the errors of a stream to it, and somebody has to hear them.
  stream.on("error", () => {});
  const refusal = hostRefusal(incoming);
  if (refusal !== null) {
    refuse(outgoing, refusal);
    return;
  }
  const onLate = () => {
    if (hasArrived(stream)) return;
    if (stream.headersSent) {
      stream.close(constants.NGHTTP2_CANCEL);
      return;
    }
    refuse(outgoing, tooSlow);
    // A reset at once could overtake the refusal.
    late = setTimeout(onLate, options.arrivalMs);
  };
  let late = setTimeout(onLate, options.arrivalMs);
  stream.once("close", () => clearTimeout(late));
  const onStall = () => {
    if (stream.writableLength > 0) stream.close(constants.NGHTTP2_CANCEL);
    else stream.setTimeout(options.stalledMs, onStall);
  };
  stream.setTimeout(options.stalledMs, onStall);
  options.answer(incoming, outgoing);
}

function hasArrived(stream: ServerHttp2Stream): boolean {
  return stream.destroyed || stream.readableEnded || stream.state.remoteClose === 1;
}

const tooSlow = new Refusal("bad_request", "the request took too long to arrive", { status: 408 });
const noHost = new Refusal("bad_request", "the request names no host in :authority");
const otherHost = new Refusal("bad_request", "the header Host is another than :authority");

/** A Host header has to be the same as `:authority`, or a server in front may have decided by the other one. */
function hostRefusal({ authority, rawHeaders }: Http2ServerRequest): Refusal | null {
  if (!authority) return noHost;
  const hosts = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === "host");
  return hosts.every((host) => host === authority) ? null : otherHost;
}

/** Answers a request with a refusal. The rest of its body is dropped. */
function refuse(outgoing: Http2ServerResponse, refusal: Refusal): void {
  const response = refusal.toResponse();
  void response.text().then((body) => {
    if (outgoing.stream.destroyed) return;
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(body);
    outgoing.stream.resume();
  });
}

/** Closes a connection whose client takes too many requests back. */
function boundResets(session: ServerHttp2Session): void {
  let sinceMs = 0;
  let resets = 0;
  session.on("stream", (stream) => {
    stream.once("close", () => {
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR) return;
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
