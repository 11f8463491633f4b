import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import type { AuthSettings } from "../../project/model.js";
import { constant, count, data, object, openObject, text } from "../../wire/schema.js";
import { readAuthBody } from "../body.js";
import type { AuthRequest } from "../context.js";
import { type AuthEndpoint, bodyErrors, providerName } from "../endpoint.js";
import { secret } from "../fields.js";
import { isOAuthProvider, type OAuthProvider } from "../oauth/credentials.js";
import { callbackUrl } from "../oauth/providers.js";
import { flowSecrets, isCodeChallenge, newSecret, stateLifetimeMs } from "../oauth/state.js";
import { insertState, purgeSignIns } from "../store/oauth.js";

/**
 * POST /auth/oauth/authorize: begins a social sign-in. The application sends the person to the URL in the answer. It
 * also has to keep the verifier of the `code_challenge` that it has sent, because the later exchange for tokens needs
 * it.
 */
export const authorizeEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/oauth/authorize",
  summary: "Begins a social sign-in",
  takes: openObject({
    provider: providerName,
    redirect_to: text,
    code_challenge: secret,
    code_challenge_method: constant("S256"),
  }),
  answers: { 200: data(object({ authorization_url: text, expires_in: count })) },
  errors: bodyErrors,
  events: [null, null],
  needs: "nothing",
  handle: authorize,
};

async function authorize({ body: sent, context }: AuthRequest): Promise<Response | Refusal> {
  const { platform, providers } = context;
  const body = await readAuthBody(sent);
  if (isRefusal(body)) return body;
  const settings = await context.settings();
  if (isRefusal(settings)) return settings;
  const wanted = readAuthorize(body, settings);
  if (isRefusal(wanted)) return wanted;
  const { provider, redirectTo, codeChallenge } = wanted;
  const connection = await providers.connect(provider);
  if (connection === null) return notOffered;
  const state = newSecret(platform.random);
  const now = platform.clock.now();
  const secrets = await flowSecrets(state, context.oauthStateKeys.current);
  const authorizationUrl = await connection.authorizationUrl({
    redirectUri: callbackUrl(context.publicBaseUrl, provider),
    state,
    secrets,
  });
  const hash = secrets.stateHash;
  await platform.database.batch([
    // Each sign-in that begins stores one state, and removes several that have expired, so that the table does not
    // grow.
    ...purgeSignIns(now, purgedMax),
    insertState({ hash, provider, redirectTo, codeChallenge, now, expiresAtMs: now + stateLifetimeMs }),
  ]);
  return json({ data: { authorization_url: authorizationUrl, expires_in: stateLifetimeMs / 1000 } });
}

const purgedMax = 20;

interface Authorize {
  readonly provider: OAuthProvider;
  readonly redirectTo: string;
  readonly codeChallenge: string;
}

function readAuthorize(
  body: Readonly<Record<string, unknown>>,
  { providers, redirectUrls }: AuthSettings,
): Authorize | Refusal {
  const { provider, redirect_to: redirectTo, code_challenge: codeChallenge, code_challenge_method: method } = body;
  if (!isOAuthProvider(provider) || !providers.includes(provider)) return notOffered;
  // The redirect URL has to equal one of the project's byte for byte (RFC 9700, section 2.1).
  if (typeof redirectTo !== "string" || !redirectUrls.includes(redirectTo))
    return badRequest("redirect_to: not one of the project's redirect URLs");
  if (method !== "S256") return badRequest("code_challenge_method: expected S256");
  if (!isCodeChallenge(codeChallenge))
    return badRequest("code_challenge: expected 43 characters of base64url (RFC 7636)");
  return { provider, redirectTo, codeChallenge };
}

const notOffered = badRequest("provider: not one that the project offers, see /auth/oauth/providers");
