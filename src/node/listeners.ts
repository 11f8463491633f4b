import type { Server } from "node:http";
import { Refusal } from "../http/refusal.js";
import type { Fetch } from "../http/router.js";
import type { Log } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import type { ListenAddress } from "../project/listen-address.js";
import { listenUrl, namedHost } from "../project/listen-url.js";
import { createHttpServer, type HttpServerOptions } from "./http-server.js";
import { drained, listenAt } from "./listening.js";

const starting = new Refusal("unavailable", "the server is starting");

/** The HTTP servers in front of an app. */
export class Listeners {
  readonly #config: Config;
  readonly #tls: HttpServerOptions["tls"];
  readonly #log: Log;
  readonly #servers: Server[] = [];

  constructor(config: Config, tls: HttpServerOptions["tls"], log: Log) {
    this.#config = config;
    this.#tls = tls;
    this.#log = log;
  }

  /**
   * Listens at an address. What `fetchOf` returns answers the requests; while it returns nothing, they are 503. Returns
   * the URL.
   */
  async listen({ host, port }: ListenAddress, fetchOf: () => Fetch | null | undefined): Promise<string> {
    const make = () =>
      createHttpServer({
        fetch: (request, env) => fetchOf()?.(request, env) ?? starting.toResponse(),
        tls: this.#tls,
        connectionsMax: this.#config.server.max_connections,
        log: this.#log,
      });
    const { name, addresses } = namedHost(host, this.#config.auth.cookie_mode);
    const listening = await listenAt(make, addresses, port);
    this.#servers.push(...listening.servers);
    return listenUrl(name, listening.port, this.#tls !== null);
  }

  /** As `drained` of listening.ts says. */
  drained(endLongWork: () => Promise<void>): Promise<void> {
    return drained(this.#servers, endLongWork);
  }

  /** Stops listening, after a failed start. */
  close(): void {
    for (const server of this.#servers) server.close();
  }
}
