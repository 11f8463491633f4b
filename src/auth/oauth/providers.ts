import { CredentialsError, type Platform } from "../../platform/platform.js";
import { apple, appleEndpoints } from "./apple.js";
import type { OAuthProvider } from "./credentials.js";
import { github, githubEndpoints } from "./github.js";
import { google, googleEndpoints } from "./google.js";
import { httpClient, providerBounds } from "./http-client.js";
import type { Provider, ProviderConnection, ProviderEndpoints } from "./provider.js";

/** The providers of social sign-in, and how to get one with the project's credentials. */
export interface Providers {
  readonly of: Readonly<Record<OAuthProvider, Provider>>;
  /**
   * Returns a provider with the project's credentials. Null where the project has none for it, or they cannot be used.
   * Why they cannot be used is logged, but not again as long as the reason stays the same.
   */
  connect(name: OAuthProvider): Promise<ProviderConnection | null>;
  /** Logs which of the declared providers are not offered, and why. */
  warnOfMissing(declared: readonly OAuthProvider[]): Promise<void>;
}

/** Makes the sign-in providers of a server. `endpoints` replaces their URLs in tests. */
export function createProviders(platform: Platform, endpoints: ProviderEndpoints): Providers {
  const http = httpClient(platform, providerBounds);
  const of = {
    google: google(endpoints.google ?? googleEndpoints, http),
    apple: apple(endpoints.apple ?? appleEndpoints, http, platform.clock),
    github: github(endpoints.github ?? githubEndpoints, http),
  };
  /** Why credentials that are installed cannot be used. */
  const reported = new Map<OAuthProvider, string>();
  const connect: Providers["connect"] = async (name) => {
    try {
      const credentials = await platform.providerCredentials(name);
      const connection = credentials === null ? null : of[name].connect(credentials);
      reported.delete(name);
      return connection;
    } catch (error) {
      if (!(error instanceof CredentialsError)) throw error;
      if (reported.get(name) !== error.message) platform.log.warn(error.message);
      reported.set(name, error.message);
      return null;
    }
  };
  return {
    of,
    connect,
    warnOfMissing: async (declared) => {
      for (const name of declared)
        if ((await connect(name)) === null && !reported.has(name))
          platform.log.warn(
            `$auth.providers: ${name} is not offered, as it has no credentials: see svc auth provider set`,
          );
    },
  };
}

/** The callback URL of a sign-in provider, which the project registers there. */
export function callbackUrl(publicBaseUrl: string, provider: OAuthProvider): string {
  return `${publicBaseUrl}/auth/oauth/callback/${provider}`;
}
