import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** How long requests get to finish when the server stops. */
export const drainMs = 8_000;
/**
 * When a server stops, its long reads and writes are interrupted after this time, so that their requests still get an
 * answer.
 */
const longWorkMs = 6_000;
const closeIdleEveryMs = 100;

/** Listens on a free port if `port` is 0. Returns the port. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
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
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
  const eachOf = (act: (server: Server) => void) => () => servers.forEach(act);
  const closeIdle = eachOf((server) => server.closeIdleConnections());
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
