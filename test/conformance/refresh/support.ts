import { client } from "../../support/client.js";
import type { TestServer } from "../../support/server.js";

/** A project with one table, for tests that need users alone. */
export const project = { schema: "notes: { columns: { id: { type: integer, primary_key: true } } }" };

/** The tokens of an answer that carries them. */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Asks for new tokens with a refresh token. */
export const refresh = (server: TestServer, refresh_token: string) =>
  client(server).post("/auth/refresh", { refresh_token });
