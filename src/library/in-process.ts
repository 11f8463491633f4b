import type { createApp } from "../app.js";
import { parseKeyScope } from "../auth/callers/api-key.js";
import { badCall } from "../client/error.js";
import { createClient } from "../client/index.js";
import { memoryStorage } from "../client/surroundings.js";
import type { HostOptions, Svc } from "./svc.js";

type App = Pick<Awaited<ReturnType<typeof createApp>>, "fetch" | "processKeys" | "crossSiteRefusal" | "ownUrl">;

/** Of the host's request, what decides who calls and from where. */
const passedOn = [
  "Authorization",
  "X-API-Key",
  "Cookie",
  "Origin",
  "Sec-Fetch-Site",
  "X-Forwarded-Proto",
  "traceparent",
];

/** The third argument of the app's `fetch` for a call in the process: the request that the host is answering, if any. */
interface Env {
  readonly host: Request | null;
}

/** The address of a client, for an app that answers calls of `createInProcess` and requests of its host. */
export function addressBy({ clientAddress }: HostOptions) {
  return (request: Request, env: unknown): string => {
    const { host } = (env ?? { host: request }) as Env;
    return host === null ? "unknown" : clientAddress(host);
  };
}

/** `as` and `asKey` on the app that serves at the time of each call. */
export function createInProcess(app: () => App): Pick<Svc, "as" | "asKey"> {
  const clientOf = (headersOf: () => Promise<Record<string, string>>, host: Request | null) =>
    createClient({
      url: app().ownUrl,
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
        return answer(new Request(input as string, { method, body, signal, headers }), { host } satisfies Env);
      },
    });
  return {
    as: (request) => clientOf(async () => headersIn(request), request) as never,
    asKey: (scopes) => {
      for (const scope of scopes) {
        const parsed = parseKeyScope(scope);
        if (parsed === null || parsed.legacy) throw badCall(`asKey: ${JSON.stringify(scope)} is no scope`);
      }
      const headersOf = async () => ({ Authorization: `Bearer ${await app().processKeys.secretFor(scopes)}` });
      return clientOf(headersOf, null) as never;
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
