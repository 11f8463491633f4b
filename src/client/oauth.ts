import type { TokenUser } from "../wire/users.js";
import type { TokenResponse } from "./authorized.js";
import { SvcError } from "./error.js";
import type { SessionStorage } from "./surroundings.js";
import type { Send } from "./transport.js";

/** A sign-in provider that the server supports. */
export type OAuthProvider = "google" | "apple" | "github";

/**
 * Sign-in with Google, Apple or GitHub (`docs/guides/sign-in-providers.md`). Needs `crypto.subtle`, which browsers
 * offer only in secure contexts.
 */
export class OAuth {
  readonly #send: Send;
  readonly #signIn: (open: () => Promise<TokenResponse>) => Promise<TokenUser>;
  readonly #storage: SessionStorage;
  readonly #key: string;

  constructor(
    send: Send,
    signIn: (open: () => Promise<TokenResponse>) => Promise<TokenUser>,
    storage: SessionStorage,
    key: string,
  ) {
    this.#send = send;
    this.#signIn = signIn;
    this.#storage = storage;
    this.#key = key;
  }

  /** The providers that the project offers, each with the server's URL to which it sends the browser back. */
  async providers(): Promise<readonly { readonly provider: OAuthProvider; readonly callback_url: string }[]> {
    const { data } = await this.#send({ method: "GET", path: "/auth/oauth/providers" });
    return data as readonly { readonly provider: OAuthProvider; readonly callback_url: string }[];
  }

  /**
   * Begins a sign-in and returns the provider's URL, to which the page has to send the browser. The browser comes back
   * to `redirectTo`, one of `$auth.redirect_urls`; the page there has to call `exchange`. Meanwhile this tab keeps the
   * PKCE verifier (RFC 7636).
   */
  async authorize(provider: OAuthProvider, redirectTo: string): Promise<string> {
    const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
    const body = {
      provider,
      redirect_to: redirectTo,
      code_challenge: base64url(new Uint8Array(digest)),
      code_challenge_method: "S256",
    };
    const { data } = await this.#send({ method: "POST", path: "/auth/oauth/authorize", body });
    await this.#storage.set(this.#key, verifier);
    return (data as { readonly authorization_url: string }).authorization_url;
  }

  /**
   * Completes the sign-in on the page of `redirectTo`, with the code in that page's URL, and returns the user. Null if
   * the URL holds neither a code nor an error, or if this tab has not begun a sign-in. Throws SvcError for an error of
   * the provider. Remove the code from the address bar afterwards.
   */
  async exchange(url: string): Promise<TokenUser | null> {
    const parameters = new URL(url).searchParams;
    const verifier = await this.#storage.get(this.#key);
    if (verifier === null) return null;
    const [error, code] = [parameters.get("error"), parameters.get("code")];
    if (error === null && code === null) return null;
    // The verifier is valid for a single exchange, even if that fails.
    await this.#storage.remove(this.#key);
    if (error !== null) throw new SvcError(0, error, parameters.get("error_description") ?? error);
    const body = { code, code_verifier: verifier };
    return this.#signIn(async () => {
      const { data } = await this.#send({ method: "POST", path: "/auth/oauth/exchange", body });
      return data as TokenResponse;
    });
  }
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
