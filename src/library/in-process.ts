import type { createApp } from "../app.js";
import { parseKeyScope } from "../auth/callers/api-key.js";
import { badCall } from "../client/error.js";
import { createClient } from "../client/index.js";
import { memoryStorage } from "../client/surroundings.js";
import { Refusal } from "../http/refusal.js";
import type { HostOptions, InProcessClient, Svc } from "./svc.js";

type App = Pick<
  Awaited<ReturnType<typeof createApp>>,
  "fetch" | "processKeys" | "crossSiteRefusal" | "ownUrl" | "upkeep"
>;

/**
 * Of the host's request, what decides who calls, as whom, and from which page. The rest of it belongs to the host.
 */
const passedOn = [
  "Authorization",
  "X-API-Key",
  "Cookie",
  "Svc-As",
  "Origin",
  "Sec-Fetch-Site",
  "X-Forwarded-Proto",
  "traceparent",
];

/** The third argument of the app's `fetch` for requests of a host and calls in its process. */
export interface HostEnv {
  /** The request that the host is answering; null for a call of its own. */
  readonly host: Request | null;
}

const stopped = new Refusal("unavailable", "the server has stopped");

/** The address of the client of a request that has `HostEnv`. */
export function addressBy({ clientAddress }: HostOptions, { host }: HostEnv): string {
  return host === null ? "unknown" : clientAddress(host);
}

/** What a host gets: the app that serves at the time of each call, until `stop` ends it. */
export function svcOf(app: () => App, stop: () => Promise<void>): Svc {
  let closed: Promise<void> | undefined;
  const answer: App["fetch"] = (request, env) => {
    const { fetch: serve } = app();
    return closed === undefined ? serve(request, env) : stopped.toResponse();
  };
  return {
    fetch: async (request) => answer(request, { host: request } satisfies HostEnv),
    upkeep: async () => {
      if (closed === undefined) await app().upkeep.due();
    },
    ...clientsOf(() => ({ ...app(), fetch: answer })),
    close: () => {
      closed ??= stop();
      return closed;
    },
  };
}

function clientsOf(app: () => App): Pick<Svc, "as" | "asKey"> {
  const clientOf = (url: string, headersOf: () => Promise<Record<string, string>>, host: Request | null) => {
    const { auth: _, ...client } = createClient({
      url,
      storage: memoryStorage(),
      // The calls' credentials replace it.
      apiKey: "in-process",
      fetch: async (input, init) => {
        const refusal = host === null ? null : app().crossSiteRefusal(host);
        if (refusal !== null) return refusal.toResponse();
        const headers = new Headers(init?.headers);
        headers.delete("Authorization");
        const credentials = await headersOf();
        // The server keeps no keys of callers that it does not know.
        if (!hasCredential(credentials)) headers.delete("Idempotency-Key");
        for (const [name, value] of Object.entries(credentials)) headers.set(name, value);
        const { method = "GET", body = null, signal = null } = init ?? {};
        const { fetch: answer } = app();
        return answer(new Request(input as string, { method, body, signal, headers }), { host } satisfies HostEnv);
      },
    });
    return client satisfies InProcessClient<Record<never, never>, Record<never, never>> as never;
  };
  return {
    // The same origin as the host's request, by which the server judges pages and loopback names.
    as: (request) => clientOf(new URL(request.url).origin, async () => headersIn(request), request),
    asKey: (given) => {
      const scopes = Object.freeze([...given]);
      if (scopes.length === 0) throw badCall("asKey: expected at least one scope");
      for (const scope of scopes) {
        const parsed = parseKeyScope(scope);
        if (parsed === null || parsed.legacy) throw badCall(`asKey: ${JSON.stringify(scope)} is no scope`);
      }
      const headersOf = async () => ({ Authorization: `Bearer ${await app().processKeys.secretFor(scopes)}` });
      return clientOf(app().ownUrl, headersOf, null);
    },
  };
}

function headersIn({ headers }: Request): Record<string, string> {
  return Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

function hasCredential(headers: Readonly<Record<string, string>>): boolean {
  return ["Authorization", "X-API-Key", "Cookie"].some((name) => Object.hasOwn(headers, name));
}
