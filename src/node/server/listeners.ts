import type { Server } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Fetch } from "../../http/router.js";
import type { Log } from "../../platform/platform.js";
import type { Config } from "../../project/config.js";
import type { ListenAddress } from "../../project/listen-address.js";
import { listenUrl, namedHost } from "../../project/listen-url.js";
import { type Certificate, createHttpServer, tlsOptions } from "./http-server.js";
import { drained, listenAt } from "./listening.js";

/** The HTTP servers in front of an app. */
export class Listeners {
  readonly #config: Config;
  readonly #tls: Certificate | null;
  readonly #log: Log;
  readonly #servers: Server[] = [];

  constructor(config: Config, tls: Certificate | null, log: Log) {
    this.#config = config;
    this.#tls = tls;
    this.#log = log;
  }

  /**
   * Listens at an address. Returns the URL.
   */
  async listen({ host, port }: ListenAddress, fetch: Fetch): Promise<string> {
    const make = () =>
      createHttpServer({
        fetch,
        tls: this.#tls,
        connectionsMax: this.#config.server.max_connections,
        log: this.#log,
      });
    const { name, addresses } = namedHost(host, this.#config.auth.cookie_mode);
    const listening = await listenAt(make, addresses, port);
    this.#servers.push(...listening.servers);
    return listenUrl(name, listening.port, this.#tls !== null);
  }

  /** Serves new connections with a certificate that was renewed at its old path. */
  renewCertificate(tls: Certificate | null): void {
    if (tls === null) return;
    for (const server of this.#servers) (server as HttpsServer).setSecureContext(tlsOptions(tls));
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
