import { createHash, randomBytes } from "node:crypto";
import { type Answer, client, dataOf, read } from "../client.js";
import type { TestServer } from "../server.js";

export const redirectTo = "https://app.example.com/auth/callback";
export const baseUrl = "http://127.0.0.1:8787";
export const callbackOf = (provider: string) => `${baseUrl}/auth/oauth/callback/${provider}`;

/** svc.schema.yaml with every provider and one redirect URL. */
export const schema = (registration = "public") => `
$auth:
  registration: ${registration}
  providers: [google, apple, github]
  redirect_urls: ["${redirectTo}"]
notes: { columns: { id: { type: integer, primary_key: true } } }
`;

export interface Challenge {
  readonly verifier: string;
  readonly challenge: string;
}

export function newChallenge(): Challenge {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

export async function authorize(
  server: TestServer,
  provider: string,
  challenge = newChallenge().challenge,
): Promise<URL> {
  const answer = await client(server).post("/auth/oauth/authorize", {
    provider,
    redirect_to: redirectTo,
    code_challenge: challenge,
    code_challenge_method: "S256",
  });
  return new URL(dataOf<{ authorization_url: string }>(answer).authorization_url);
}

/** How the provider sends the browser back. */
export interface CallbackRequest {
  readonly method: "GET" | "POST";
  readonly provider: string;
  readonly parameters: URLSearchParams;
}

/** Follows the provider's redirects with a browser's cookies, up to the one that leads back to us. */
export async function atProvider(start: URL): Promise<CallbackRequest> {
  const cookies = new Map<string, string>();
  let url = start;
  for (let hop = 0; hop < 10; hop++) {
    const Cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { Cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      cookies.set(name!, value!);
    }
    const location = response.headers.get("Location");
    const text = await response.text();
    if (location === null) return formOf(text);
    url = new URL(location, url);
    if (url.href.startsWith(callbackOf("")))
      return { method: "GET", provider: providerOf(url.href), parameters: url.searchParams };
  }
  throw new Error("the provider redirects without end");
}

/** The form that a page submits by itself (OAuth 2.0 Form Post Response Mode). */
function formOf(html: string): CallbackRequest {
  const action = /<form method="post" action="([^"]+)"/.exec(html)?.[1];
  if (action === undefined) throw new Error(`no form in ${html}`);
  const inputs = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  const parameters = new URLSearchParams();
  for (const [, name, value] of inputs) parameters.append(name!, value!);
  return { method: "POST", provider: providerOf(action), parameters };
}

function providerOf(url: string): string {
  return new URL(url).pathname.replace("/auth/oauth/callback/", "");
}

/** Does what the browser does then; `headers` are on top. */
export async function deliver(
  server: TestServer,
  { method, provider, parameters }: CallbackRequest,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const path = `/auth/oauth/callback/${provider}`;
  return read(
    method === "GET"
      ? await server.request(`${path}?${parameters}`, { redirect: "manual", headers })
      : await server.request(path, {
          method,
          redirect: "manual",
          headers: {
            "Content-Type": "application/x-www-form-urlencoded",
            Origin: "https://provider.example",
            "Sec-Fetch-Site": "cross-site",
            ...headers,
          },
          body: parameters.toString(),
        }),
  );
}

/** Where the application was sent back to: its redirect URL exactly, and what it was told. */
export function sentBack(answer: Answer): URLSearchParams {
  if (answer.status !== 303) throw new Error(`not sent back: ${answer.status} ${answer.text}`);
  const [url, query, ...more] = answer.headers.get("Location")!.split("?");
  if (url !== redirectTo || more.length > 0) throw new Error(`sent to ${answer.headers.get("Location")}`);
  return new URLSearchParams(query);
}

export interface Outcome extends Challenge {
  readonly told: URLSearchParams;
}

/** A whole sign-in, up to the code or the error that the application is told. */
export async function signInWith(server: TestServer, provider: string): Promise<Outcome> {
  const challenge = newChallenge();
  const url = await authorize(server, provider, challenge.challenge);
  return { ...challenge, told: sentBack(await deliver(server, await atProvider(url))) };
}

export function exchange(server: TestServer, { told, verifier }: Outcome): Promise<Answer> {
  return client(server).post("/auth/oauth/exchange", { code: told.get("code"), code_verifier: verifier });
}

export interface Tokens {
  readonly user: { readonly id: string; readonly email: string; readonly role: string };
  readonly access_token: string;
  readonly refresh_token: string;
}

/** The same to its end: the tokens. */
export async function tokensWith(server: TestServer, provider: string): Promise<Tokens> {
  const outcome = await signInWith(server, provider);
  if (outcome.told.has("error")) throw new Error(`refused: ${outcome.told} ${server.log.lines}`);
  return dataOf<Tokens>(await exchange(server, outcome));
}
