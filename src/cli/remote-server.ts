import { type Invocation, RefusedError, UsageError } from "./command.js";
import { readSecretLine } from "./standard-input.js";

/** A running server, called with a service key. */
export interface RemoteServer {
  post(path: string, yaml: string): Promise<{ readonly ok: boolean; readonly body: unknown }>;
}

/** Null without `--url`. The key comes in on standard input, never as an argument. */
export async function remoteServer(invocation: Invocation): Promise<RemoteServer | null> {
  const url = invocation.text("url");
  if (url === undefined) return null;
  if (!invocation.flag("key-stdin")) throw new UsageError("--url needs --key-stdin");
  const key = await readSecretLine();
  return {
    post: async (path, yaml) => {
      const response = await request(new URL(path, url), key, yaml);
      return { ok: response.ok, body: await response.json() };
    },
  };
}

async function request(url: URL, key: string, yaml: string): Promise<Response> {
  try {
    return await fetch(url, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/yaml" },
      body: yaml,
      redirect: "error",
    });
  } catch (error) {
    throw new RefusedError(`${url.origin} cannot be reached: ${(error as Error).message}`);
  }
}
