import { isLoopbackHost } from "../../http/loopback.js";
import type { Platform } from "../../platform/platform.js";

/** A function like `fetch` that follows no redirects and has limits of time and size. */
export type HttpClient = typeof globalThis.fetch;

/** The limits of a request to a sign-in provider: its time in milliseconds, and the bytes of its answer. */
export interface HttpBounds {
  readonly deadlineMs: number;
  readonly bytesMax: number;
}

/** The limits of requests to sign-in providers: 10 seconds, and an answer of 256 KiB. */
export const providerBounds: HttpBounds = { deadlineMs: 10_000, bytesMax: 262_144 };

/**
 * Makes an HttpClient on the platform's `fetch`. It reads the whole response before it returns it, and throws where a
 * limit of time or size is exceeded.
 */
export function httpClient({ fetch }: Pick<Platform, "fetch">, bounds: HttpBounds): HttpClient {
  const send = fetch;
  return async (input, init) => {
    const signal = AbortSignal.timeout(bounds.deadlineMs);
    const response = await send(input, { ...init, redirect: "manual", signal });
    const body = await readBytes(response, bounds.bytesMax);
    const { status, headers } = response;
    return new Response(body.length === 0 ? null : body, { status, headers });
  };
}

async function readBytes({ body }: Response, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > bytesMax) throw new Error(`the provider's answer is over ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** Whether the URL is plain HTTP on a loopback address, which only the providers of the test suite use. */
export function isLoopbackHttp(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && isLoopbackHost(hostname);
}
