import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";

/** How long requests get to finish when the server stops. */
export const drainMs = 8_000;
/**
 * When a server stops, its long reads and writes are interrupted after this time, so that their requests still get an
 * answer.
 */
const longWorkMs = 6_000;
const closeIdleEveryMs = 100;

/** The open connections of each server that listens. */
const connections = new WeakMap<Server, Set<Socket>>();

/** Listens on a free port if `port` is 0. Returns the port. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  const open = new Set<Socket>();
  connections.set(server, open);
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(port, host, listening);
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Stops taking requests, and waits until those that have begun are answered, or `drainMs` at most; then their
 * connections are closed. Calls `endLongWork` if requests still run after `longWorkMs`.
 */
export async function drained(servers: readonly Server[], endLongWork: () => Promise<void>): Promise<void> {
  // Connections that the system has accepted already, but this process has not, would be reset.
  await setImmediate();
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
  const eachOf = (act: (server: Server) => void) => () => servers.forEach(act);
  // For Node, a connection that has not sent a byte yet is not idle.
  const closeIdle = eachOf((server) => {
    server.closeIdleConnections();
    for (const socket of connections.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy();
  });
  closeIdle();
  const closeAll = eachOf((server) => server.closeAllConnections());
  // Clients keep a connection open after an answer, so more connections become idle.
  const idle = setInterval(closeIdle, closeIdleEveryMs);
  const interrupt = setTimeout(endLongWork, longWorkMs);
  const deadline = setTimeout(closeAll, drainMs);
  await Promise.all(closed);
  clearInterval(idle);
  clearTimeout(interrupt);
  clearTimeout(deadline);
}
