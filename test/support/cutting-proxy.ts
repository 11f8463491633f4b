import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Where a connection breaks. `after` is given how many bytes there are, and says after how many: fewer than all. */
export type Cut =
  /** Within the request: the server never gets it whole. */
  | { readonly within: "request"; readonly after: (total: number) => number }
  /**
   * Between the two: the server has the request, and may or may not be at work. Its own connection breaks too, or it is
   * left to answer nobody.
   */
  | { readonly within: "wait"; readonly isServerCut: boolean }
  /** Within the answer, when the server has given it whole. */
  | { readonly within: "answer"; readonly after: (total: number) => number };

/** A proxy for TCP connections, which carry one HTTP request each. */
export interface CuttingProxy {
  /** `http://host:port`, to be asked instead of the server. */
  readonly url: string;
  /** What becomes of the next connection; null for nothing special. Without a call nothing does. */
  cutNext(cut: Cut | null): void;
  /** How many bytes the last whole answer of the server had. */
  readonly answerBytes: number;
}

/** Starts a proxy on a port of its own in front of the server at that URL, until the test ends. */
export async function startCuttingProxy(serverUrl: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let next: Cut | null = null;
  let answerBytes = 0;
  const kept = (socket: Socket) => {
    sockets.add(socket);
    // A connection that breaks is what this is about.
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
    return socket;
  };
  const carry = async (client: Socket, server: Socket, cut: Cut | null) => {
    const request = await untilWhole(client);
    if (cut?.within === "request") return sendThenCut(server, request.subarray(0, cut.after(request.length)));
    await sent(server, request);
    if (cut?.within === "wait") return cut.isServerCut ? void server.destroy() : void server.resume();
    const answer = await untilWhole(server);
    answerBytes = answer.length;
    await sendThenCut(client, cut === null ? answer : answer.subarray(0, cut.after(answer.length)));
  };
  const listener = createServer((socket) => {
    const client = kept(socket);
    const server = kept(connect(Number(port), hostname));
    const cut = next;
    next = null;
    // Where the server breaks off by itself, its client gets no answer either.
    void carry(client, server, cut)
      .catch(() => {})
      .finally(() => {
        client.destroy();
        if (cut?.within !== "wait") server.destroy();
      });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  onTestFinished(() => {
    listener.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    cutNext: (cut) => {
      next = cut;
    },
    get answerBytes() {
      return answerBytes;
    },
  };
}

/** What comes over a connection, once that is a whole request or answer. */
async function untilWhole(socket: Socket): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  for await (const part of socket.iterator({ destroyOnReturn: false })) {
    bytes = Buffer.concat([bytes, part as Buffer]);
    if (isWhole(bytes)) return bytes;
  }
  throw new Error("the connection has ended before");
}

function isWhole(message: Buffer): boolean {
  const end = message.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const head = message.toString("latin1", 0, end);
  if (/^transfer-encoding: *chunked$/im.test(head)) return hasLastChunk(message.subarray(end + 4));
  const [, length = "0"] = /^content-length: *(\d+)/im.exec(head) ?? [];
  return message.length >= end + 4 + Number(length);
}

function hasLastChunk(chunks: Buffer): boolean {
  const end = chunks.indexOf("\r\n");
  if (end === -1) return false;
  const size = Number.parseInt(chunks.toString("latin1", 0, end), 16);
  const next = end + 2 + size + 2;
  return next <= chunks.length && (size === 0 || hasLastChunk(chunks.subarray(next)));
}

/** Once the bytes are with the system, which delivers them before the end of the connection. */
function sent(socket: Socket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    socket.write(bytes, () => resolve());
  });
}

async function sendThenCut(socket: Socket, bytes: Uint8Array): Promise<void> {
  await sent(socket, bytes);
  socket.destroy();
}
