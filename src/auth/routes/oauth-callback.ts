import { mapKeyring, underEither } from "../../encoding/keyring.js";
import { withFacts } from "../../http/answer-facts.js";
import type { RequestBody } from "../../http/body.js";
import { parseQueryString } from "../../http/query-string.js";
import { isRefusal, methodNotAllowed, Refusal } from "../../http/refusal.js";
import { everyAnswer } from "../../http/respond.js";
import { run } from "../../platform/query.js";
import type { AuthSettings } from "../../project/model.js";
import type { AuthContext, AuthRequest } from "../context.js";
import { type AuthEndpoint, providerParameter } from "../endpoint.js";
import { asProviderError } from "../oauth/code-grant.js";
import { isOAuthProvider } from "../oauth/credentials.js";
import { type Profile, type Provider, ProviderError } from "../oauth/provider.js";
import { callbackUrl } from "../oauth/providers.js";
import { failureDescriptions, type SignInFailure, signInByProfile } from "../oauth/sign-in.js";
import { type FlowSecrets, flowSecrets, withQuery } from "../oauth/state.js";
import { consumeState } from "../store/oauth.js";

/**
 * GET or POST /auth/oauth/callback/{provider}: the sign-in provider sends the person back here. The state is marked as
 * used before the provider is asked who has signed in, so it cannot be used again even if that fails. Where the state
 * is unknown, used or expired, the answer is 400 and no redirect, because the application's URL is stored with the
 * state.
 */
export const callbackByGetEndpoint: AuthEndpoint = {
  method: "GET",
  path: "/auth/oauth/callback/{provider}",
  refusesMethods: true,
  undocumentedQuery: ["state", "code", "error"],
  summary: "Where Google and GitHub send the browser back to",
  parameters: [providerParameter],
  answers: { 303: null },
  errors: [400, 403, 404, 405, 503],
  events: [null, "sign_in_failed"],
  needs: "nothing",
  handle: callback,
};

/** `POST /auth/oauth/callback/{provider}`: see `callbackByGetEndpoint`. */
export const callbackByPostEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/oauth/callback/{provider}",
  summary: "Where Apple sends the browser back to",
  parameters: [providerParameter],
  answers: { 303: null },
  errors: [400, 403, 404, 405, 413, 415, 503],
  events: [null, "sign_in_failed"],
  needs: "nothing",
  handle: callback,
};

async function callback({ request, body, context, name }: AuthRequest): Promise<Response | Refusal> {
  if (!isOAuthProvider(name)) return new Refusal("not_found", "no such provider");
  const provider = context.providers.of[name];
  // HEAD is refused too, because a safe request (RFC 9110, section 9.2.1) must not use the state up.
  if (request.method !== provider.callbackMethod) return methodNotAllowed(provider.callbackMethod);
  const parameters = await readParameters(request, body, provider);
  if (isRefusal(parameters)) return parameters;
  const settings = await context.settings();
  if (isRefusal(settings)) return settings;
  const flow = await takeFlow(context, parameters.get("state"), provider, settings);
  if (flow === null) return unknownState;
  const outcome = await finish(context, { ...flow, provider, parameters, settings });
  if ("code" in outcome) return seeOther(withQuery(flow.redirectTo, { code: outcome.code }));
  const { failure } = outcome;
  const target = withQuery(flow.redirectTo, {
    error: failure,
    error_description: failureDescriptions[failure],
  });
  return withFacts(seeOther(target), { event: "sign_in_failed", code: failure });
}

const unknownState = new Refusal("bad_request", "the state is unknown, used or expired: begin the sign-in again", {
  facts: { event: "sign_in_failed" },
});

/** How many bytes the form may have that a browser posts from Apple to the callback. */
const formBytesMax = 65_536;

async function readParameters(
  request: Request,
  body: RequestBody,
  provider: Provider,
): Promise<URLSearchParams | Refusal> {
  if (provider.callbackMethod === "GET") return parametersOf(request.url);
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers.get("Content-Type") ?? ""))
    return new Refusal("unsupported_media_type", "expected application/x-www-form-urlencoded");
  const text = await body.text(formBytesMax);
  return isRefusal(text) ? text : parametersOf(`?${text}`);
}

function parametersOf(url: string): URLSearchParams | Refusal {
  const parsed = parseQueryString(url);
  return isRefusal(parsed) ? parsed : new URLSearchParams(Object.fromEntries(parsed));
}

interface Flow {
  readonly state: string;
  readonly secrets: FlowSecrets;
  readonly redirectTo: string;
  readonly codeChallenge: string;
}

/**
 * Marks the state of a social sign-in as used, and returns what was stored with it. Null where the state is unknown,
 * used or expired, or the redirect URL that it was made for is no longer one of the project's.
 */
async function takeFlow(
  { platform, oauthStateKeys }: AuthContext,
  state: string | null,
  { name }: Provider,
  { redirectUrls }: AuthSettings,
): Promise<Flow | null> {
  if (state === null) return null;
  const flows = await mapKeyring(oauthStateKeys, (key) => flowSecrets(state, key));
  const hashes = await mapKeyring(flows, ({ stateHash }) => stateHash);
  const stored = await run(platform.database, consumeState(hashes, name, platform.clock.now()));
  if (stored === null || !redirectUrls.includes(stored.redirectTo)) return null;
  const { hash, redirectTo, codeChallenge } = stored;
  const secrets = await underEither(flows, (flow) => (flow.stateHash === hash ? flow : null));
  return secrets && { state, secrets, redirectTo, codeChallenge };
}

interface Finish extends Flow {
  readonly provider: Provider;
  readonly parameters: URLSearchParams;
  readonly settings: AuthSettings;
}

async function finish(
  context: AuthContext,
  flow: Finish,
): Promise<{ readonly code: string } | { readonly failure: SignInFailure }> {
  const { provider, settings, codeChallenge } = flow;
  const profile = await profileOf(context, flow);
  if (!(profile instanceof ProviderError))
    return signInByProfile(context, { profile, registration: settings.registration, codeChallenge });
  if (profile.failure !== "access_denied")
    context.platform.log.warn(`sign-in with ${provider.name} failed: ${profile.message}`);
  return { failure: profile.failure };
}

async function profileOf(
  context: AuthContext,
  { provider, parameters, state, secrets, settings }: Finish,
): Promise<Profile | ProviderError> {
  const offered = settings.providers.includes(provider.name);
  const connection = offered ? await context.providers.connect(provider.name) : null;
  if (connection === null) return new ProviderError("provider_error", "it is not offered any more");
  const redirectUri = callbackUrl(context.publicBaseUrl, provider.name);
  try {
    return await connection.profile({ redirectUri, state, secrets, parameters });
  } catch (error) {
    return asProviderError(error);
  }
}

/**
 * The response that redirects to `location`. Its status 303 makes the browser continue with GET, also after the POST
 * that Apple's sign-in ends with (RFC 9110, section 15.4.4).
 */
function seeOther(location: string): Response {
  const headers = { ...everyAnswer, Location: location, "Referrer-Policy": "no-referrer" };
  return new Response(null, { status: 303, headers });
}
