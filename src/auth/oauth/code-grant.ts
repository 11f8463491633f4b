import * as oauth from "oauth4webapi";
import type { HttpClient } from "./http-client.js";
import { isLoopbackHttp } from "./http-client.js";
import { type AuthorizationResponse, type Endpoints, ProviderError } from "./provider.js";

/** A provider as oauth4webapi knows it. One value for the life of the server: its keys are cached by it. */
export function authorizationServer({
  issuer,
  authorization,
  token,
  jwks,
}: Endpoints): oauth.AuthorizationServer {
  return {
    issuer,
    authorization_endpoint: authorization,
    token_endpoint: token,
    ...(jwks === undefined ? {} : { jwks_uri: jwks }),
  };
}

export interface CodeGrant {
  readonly server: oauth.AuthorizationServer;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly response: AuthorizationResponse;
  /** Whether the provider checks the server's PKCE (RFC 7636). */
  readonly pkce: boolean;
  readonly http: HttpClient;
}

/**
 * RFC 6749, section 4.1.3, of an authorization response whose state was found good. `iss` is checked where it is given
 * (RFC 9207). With `openId` there is an ID token, whose issuer, audience, times and nonce are checked here, and its
 * signature against the provider's keys (OpenID Connect Core, section 3.1.3.7).
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
 * What a failed exchange may be told of: never the cause of an error, in which oauth4webapi keeps whole answers. Errors
 * that are not the provider's pass through.
 */
export function asProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof oauth.AuthorizationResponseError)
    return isDenial(error.error)
      ? new ProviderError("access_denied", "the person, or the provider for them, said no")
      : new ProviderError("provider_error", `the provider answered ${word(error.error)}`);
  if (error instanceof oauth.ResponseBodyError)
    return new ProviderError(
      "provider_error",
      `the token endpoint answered ${error.status} ${word(error.error)}`,
    );
  const { name, message } = error instanceof Error ? error : new Error("an unknown failure");
  return new ProviderError("provider_error", `${name}: ${message}${networkCode(error)}`);
}

/** Of a fetch that failed, such as ECONNREFUSED. */
function networkCode(error: unknown): string {
  const cause: unknown = error instanceof TypeError ? error.cause : null;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return /^[A-Z_]{2,40}$/.test(code) ? ` (${code})` : "";
}

/** RFC 6749, section 4.1.2.1; Apple has a word of its own. */
function isDenial(error: string): boolean {
  return error === "access_denied" || error === "user_cancelled_authorize";
}

/** A provider's error code, which is a word; anything longer or stranger stays out of the log. */
function word(error: string): string {
  return /^[\w.-]{1,64}$/.test(error) ? error : "an error";
}
