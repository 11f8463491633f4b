import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { endHttp2 } from "./http2.js";

/** How long requests get to finish when the server stops. */
export const drainMs = 8_000;
/**
 * When a server stops, its long reads and writes are interrupted after this time, so that their requests still get an
 * answer.
 */
export const longWorkMs = 6_000;
const closeIdleEveryMs = 100;

/** As many connections wait at most to be accepted, unless the system has another limit. It is Node's default. */
const backlog = 511;

/** The connections of a server that listens. */
interface Connections {
  /** Those that are open, by the client's address. Under TLS, a connection is decrypted once its handshake is over. */
  readonly open: Map<string, Socket>;
  /** Whether there is nothing in what a client has sent that belongs to a request: a TLS handshake does not. */
  readonly isSilent: (socket: Socket) => boolean;
  /** How many have been accepted. */
  accepted: number;
}

const connections = new WeakMap<Server, Connections>();

/** Servers that listen on one port at several addresses. */
export interface Listening {
  readonly servers: readonly Server[];
  readonly port: number;
}

/**
 * Makes a server for each of these addresses, and listens there, on a free port if `port` is 0. Leaves out addresses
 * after the first one that this machine does not have, such as `::1` without IPv6.
 */
export async function listenAt(
  make: () => Promise<Server>,
  [first, ...others]: readonly [string, ...string[]],
  port: number,
): Promise<Listening> {
  const servers = [await make()];
  const taken = await listen(servers[0]!, first, port);
  try {
    for (const host of others) {
      const server = await make();
      if (await listenIfThere(server, host, taken)) servers.push(server);
    }
    return { servers, port: taken };
  } catch (error) {
    for (const server of servers) server.close();
    // A port that is free at one address may be in use at another.
    if (port === 0 && (error as NodeJS.ErrnoException).code === "EADDRINUSE")
      return listenAt(make, [first, ...others], port);
    throw error;
  }
}

/** Whether the machine has the address. */
async function listenIfThere(server: Server, host: string, port: number): Promise<boolean> {
  try {
    await listen(server, host, port);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT") return false;
    throw error;
  }
}

/** Listens on a free port if `port` is 0. Returns the port. */
async function listen(server: Server, host: string, port: number): Promise<number> {
  const open = new Map<string, Socket>();
  const hasTls = "setSecureContext" in server;
  const isSilent = (socket: Socket) => socket.bytesRead === 0 || (hasTls && !("encrypted" in socket));
  const all: Connections = { open, isSilent, accepted: 0 };
  connections.set(server, all);
  const keep = (socket: Socket) => {
    const client = `${socket.remoteAddress} ${socket.remotePort}`;
    open.set(client, socket);
    socket.once("close", () => open.get(client) === socket && open.delete(client));
  };
  server.on("connection", (socket: Socket) => {
    all.accepted++;
    keep(socket);
  });
  server.on("secureConnection", keep);
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(port, host, backlog, listening);
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Stops taking requests, and waits until those that have begun are answered, or `drainMs` at most; then their
 * connections are closed. Calls `endLongWork` if requests still run after `longWorkMs`.
 */
export async function drained(servers: readonly Server[], endLongWork: () => Promise<void>): Promise<void> {
  const kept = servers.map((server) => connections.get(server)!);
  // Connections that the system has accepted already, but this process has not, would be reset. Each turn of the event
  // loop accepts one, and reads what the ones before have sent. The turn that goes on now may have done so already.
  const accepted = () => kept.reduce((sum, each) => sum + each.accepted, 0);
  await setImmediate();
  for (let turn = 0, before = -1; before < accepted() && turn < backlog; turn++) {
    before = accepted();
    await setImmediate();
  }
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
  for (const server of servers) endHttp2(server);
  const close = (isToEnd: (socket: Socket, of: Connections) => boolean) => {
    for (const each of kept) for (const socket of each.open.values()) if (isToEnd(socket, each)) socket.destroy();
  };
  // For Node, a connection that has not sent a byte yet is not idle.
  const closeIdle = () => {
    for (const server of servers) server.closeIdleConnections();
    close((socket, { isSilent }) => isSilent(socket));
  };
  closeIdle();
  const closeAll = () => close(() => true);
  // Clients keep a connection open after an answer, so more connections become idle.
  const idle = setInterval(closeIdle, closeIdleEveryMs);
  const interrupt = setTimeout(endLongWork, longWorkMs);
  const deadline = setTimeout(closeAll, drainMs);
  await Promise.all(closed);
  clearInterval(idle);
  clearTimeout(interrupt);
  clearTimeout(deadline);
}
