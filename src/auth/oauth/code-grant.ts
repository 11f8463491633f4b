import * as oauth from "oauth4webapi";
import type { HttpClient } from "./http-client.js";
import { isLoopbackHttp } from "./http-client.js";
import { type AuthorizationResponse, type Endpoints, ProviderError } from "./provider.js";

/**
 * Makes the object that oauth4webapi takes for a sign-in provider. To be called once per provider and server, because
 * oauth4webapi caches the provider's keys by this object.
 */
export function authorizationServer({ issuer, authorization, token, jwks }: Endpoints): oauth.AuthorizationServer {
  return {
    issuer,
    authorization_endpoint: authorization,
    token_endpoint: token,
    ...(jwks === undefined ? {} : { jwks_uri: jwks }),
  };
}

/** What is needed to exchange an authorization code for tokens at a sign-in provider. */
export interface CodeGrant {
  readonly server: oauth.AuthorizationServer;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly response: AuthorizationResponse;
  /** Whether the server uses PKCE (RFC 7636) with this provider. */
  readonly pkce: boolean;
  readonly http: HttpClient;
}

/**
 * Exchanges the code of a provider's authorization response for tokens (RFC 6749, section 4.1.3). The caller must have
 * marked the state as used before, so that a response counts only once. `iss` is checked where the response has it (RFC
 * 9207). With `openId` the provider has to return an ID token: its issuer, audience, times and nonce are checked, and
 * its signature with the provider's keys (OpenID Connect Core, section 3.1.3.7). Throws where a check fails or the
 * provider reports an error.
 */
export async function exchangeCode(
  grant: CodeGrant,
  { openId }: { readonly openId: boolean },
): Promise<{ readonly accessToken: string; readonly claims: oauth.IDToken | undefined }> {
  const { server, clientId, response, http } = grant;
  const client = { client_id: clientId };
  const options = {
    [oauth.customFetch]: http as unknown as (url: string, options: object) => Promise<Response>,
    [oauth.allowInsecureRequests]: isLoopbackHttp(server.token_endpoint!),
  };
  const parameters = oauth.validateAuthResponse(server, client, response.parameters, response.state);
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.ClientSecretPost(grant.clientSecret),
    parameters,
    response.redirectUri,
    grant.pkce ? response.secrets.codeVerifier : oauth.nopkce,
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    answer,
    openId ? { expectedNonce: response.secrets.nonce, requireIdToken: true } : {},
  );
  if (openId) await oauth.validateApplicationLevelSignature(server, answer, options);
  return { accessToken: tokens.access_token, claims: oauth.getValidatedIdTokenClaims(tokens) };
}

/**
 * Turns any error of the exchange with a provider into a ProviderError, with a message that may be logged. The cause of
 * the error is left out, because oauth4webapi keeps whole answers there, and those hold tokens.
 */
export function asProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof oauth.AuthorizationResponseError)
    return isDenial(error.error)
      ? new ProviderError("access_denied", "the person, or the provider for them, said no")
      : new ProviderError("provider_error", `the provider answered ${word(error.error)}`);
  if (error instanceof oauth.ResponseBodyError)
    return new ProviderError("provider_error", `the token endpoint answered ${error.status} ${word(error.error)}`);
  const { name, message } = error instanceof Error ? error : new Error("an unknown failure");
  return new ProviderError("provider_error", `${name}: ${message}${networkCode(error)}`);
}

/**
 * The operating system's code for a network request that failed, as the end of a message: ` (ECONNREFUSED)`. Empty
 * where there is none.
 */
function networkCode(error: unknown): string {
  const cause: unknown = error instanceof TypeError ? error.cause : null;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return /^[A-Z_]{2,40}$/.test(code) ? ` (${code})` : "";
}

/**
 * Whether a provider's error code means that the person declined to sign in (RFC 6749, section 4.1.2.1). Apple uses a
 * code of its own.
 */
function isDenial(error: string): boolean {
  return error === "access_denied" || error === "user_cancelled_authorize";
}

/**
 * An error code that a provider has sent, as it may stand in a logged message: the code itself if it is one short word,
 * otherwise `an error`.
 */
function word(error: string): string {
  return /^[\w.-]{1,64}$/.test(error) ? error : "an error";
}
