import type { OAuthProvider } from "./credentials.js";
import type { FlowSecrets } from "./state.js";

/** A provider of social sign-in: how to send a person there, and what it says of them when they come back. */
export interface Provider {
  readonly name: OAuthProvider;
  /** Apple posts a form, the others redirect with a query. */
  readonly callbackMethod: "GET" | "POST";
  /** Under the credentials of the project, as JSON. Throws CredentialsError where they are not such. */
  connect(credentials: string): ProviderConnection;
}

export interface ProviderConnection {
  /** Where a person signs in (RFC 6749, section 4.1.1). */
  authorizationUrl(request: AuthorizationRequest): Promise<string>;
  /** Exchanges the code and verifies whatever the provider says. Throws ProviderError, or what the network throws. */
  profile(response: AuthorizationResponse): Promise<Profile>;
}

export interface AuthorizationRequest {
  /** The server's own callback. */
  readonly redirectUri: string;
  readonly state: string;
  readonly secrets: FlowSecrets;
}

export interface AuthorizationResponse extends AuthorizationRequest {
  /** What the callback was given (RFC 6749, section 4.1.2; RFC 9207). */
  readonly parameters: URLSearchParams;
}

/** Who signed in. An identity is the provider and the subject together. */
export interface Profile {
  readonly provider: OAuthProvider;
  readonly subject: string;
  readonly email: string | null;
  /** Whether the provider vouches for the address. */
  readonly emailVerified: boolean;
  /**
   * Whether it answers for the address as of now, so that an existing user who has it may be linked; else it has verified it
   * at some time, and it may have changed hands since.
   */
  readonly mayLink: boolean;
}

/** What the application is told; the log gets the details. */
export type ProviderFailure = "access_denied" | "provider_error";

/** The provider said no, or something that does not hold. The message names neither tokens nor people. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  constructor(
    readonly failure: ProviderFailure,
    message: string,
  ) {
    super(message);
  }
}

/** Where a provider's endpoints are. Tests put their own providers in their place, nothing else does. */
export interface Endpoints {
  readonly issuer: string;
  readonly authorization: string;
  readonly token: string;
  /** OpenID providers. */
  readonly jwks?: string;
  /** GitHub: the REST interface. */
  readonly api?: string;
}

export type ProviderEndpoints = Readonly<Partial<Record<OAuthProvider, Endpoints>>>;
