import type { OAuthProvider } from "./credentials.js";
import type { FlowSecrets } from "./state.js";

/** A provider of social sign-in, such as Google, without the project's credentials. */
export interface Provider {
  readonly name: OAuthProvider;
  /**
   * The HTTP method of the provider's callback: the browser posts a form for Apple, and for the others follows a
   * redirect.
   */
  readonly callbackMethod: "GET" | "POST";
  /**
   * Returns this provider with the project's credentials, which are given as JSON. Throws CredentialsError where they
   * are incomplete.
   */
  connect(credentials: string): ProviderConnection;
}

/** A sign-in provider, with the credentials of the project. */
export interface ProviderConnection {
  /** Makes the URL at which a person signs in (RFC 6749, section 4.1.1). */
  authorizationUrl(request: AuthorizationRequest): Promise<string>;
  /**
   * Exchanges the code of the callback at the provider, and returns who has signed in, once what the provider says is
   * verified. Throws ProviderError, or what the network throws.
   */
  profile(response: AuthorizationResponse): Promise<Profile>;
}

/**
 * What is known of a social sign-in when it begins. From this the URL at the provider is made, at which the person
 * signs in.
 */
export interface AuthorizationRequest {
  /** The URL of this server to which the provider sends the person back. */
  readonly redirectUri: string;
  readonly state: string;
  readonly secrets: FlowSecrets;
}

/**
 * The provider's callback, which ends a social sign-in. `redirectUri`, `state` and `secrets` have to be those that the
 * sign-in was begun with.
 */
export interface AuthorizationResponse extends AuthorizationRequest {
  /** The parameters that the provider has sent with the callback (RFC 6749, section 4.1.2; RFC 9207). */
  readonly parameters: URLSearchParams;
}

/** Who has signed in at a provider. `provider` and `subject` together identify the person. */
export interface Profile {
  readonly provider: OAuthProvider;
  readonly subject: string;
  readonly email: string | null;
  /** Whether the provider has verified the email address. */
  readonly emailVerified: boolean;
  /**
   * Whether the provider vouches for the email address as of now, so that the person may be given an existing account
   * with that address. False where the provider verified the address once and it may have passed to another person
   * since.
   */
  readonly mayLink: boolean;
}

/** Why a sign-in at a provider failed, as a code that the application is told. More is in the log. */
export type ProviderFailure = "access_denied" | "provider_error";

/**
 * Thrown where a sign-in provider refuses, or its answer does not verify. The message names neither tokens nor people.
 */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  constructor(
    readonly failure: ProviderFailure,
    message: string,
  ) {
    super(message);
  }
}

/** The URLs of a sign-in provider. Only tests replace them, with providers of their own. */
export interface Endpoints {
  readonly issuer: string;
  readonly authorization: string;
  readonly token: string;
  /** The URL where the provider publishes its keys; only of OpenID providers. */
  readonly jwks?: string;
  /** The base URL of GitHub's REST interface; only of GitHub. */
  readonly api?: string;
}

/** URLs that replace those of sign-in providers, in tests. */
export type ProviderEndpoints = Readonly<Partial<Record<OAuthProvider, Endpoints>>>;
