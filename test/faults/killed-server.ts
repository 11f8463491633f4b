import { expect, onTestFinished } from "vitest";
import { type SpawnedServer, spawnServer } from "../support/spawned-server.js";

/** A request to a server that may be killed before it answers. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly token?: string;
}

/** Its answer, read to its end. */
export interface Answered {
  readonly status: number;
  readonly data: unknown;
  /** Of a refusal. */
  readonly error: unknown;
}

/** What a killed server's client gets: null where no answer came, or only a part of it. */
export async function ask(url: string, { method, path, body, token }: Asked): Promise<Answered | null> {
  try {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "Content-Type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { data, error } = (await response.json()) as { data: unknown; error: unknown };
    return { status: response.status, data, error };
  } catch {
    return null;
  }
}

export interface Started extends SpawnedServer {
  /** From its spawn to its first answer. */
  readonly ms: number;
}

/** The built server on the project of a directory, once it answers; killed with the test. */
export async function start(directory: string): Promise<Started> {
  const from = performance.now();
  const server = await spawnServer(directory);
  onTestFinished(async () => void (await server.end("SIGKILL")));
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  return { ...server, ms: performance.now() - from };
}
