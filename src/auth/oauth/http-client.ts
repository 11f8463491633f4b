import { isLoopbackHost } from "../../http/loopback.js";
import type { Platform } from "../../platform/platform.js";

/** As `fetch`, bounded: no redirect is followed, and neither time nor size is the provider's to choose. */
export type HttpClient = typeof globalThis.fetch;

export interface HttpBounds {
  readonly deadlineMs: number;
  readonly bytesMax: number;
}

export const providerBounds: HttpBounds = { deadlineMs: 10_000, bytesMax: 262_144 };

/** The whole answer is read before it is handed on. Throws where a bound is passed. */
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

/** Plain HTTP is for providers of the test suite, on loopback addresses. */
export function isLoopbackHttp(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && isLoopbackHost(hostname);
}
