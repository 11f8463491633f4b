import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Listens on a loopback address until the test ends; `make` is told the URL that it will answer at. */
export async function listen(make: (url: string) => RequestListener): Promise<string> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on("request", make(url));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
  });
  return url;
}
