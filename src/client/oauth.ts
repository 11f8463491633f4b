import type { TokenResponse } from "./authorized.js";
import { SvcError } from "./error.js";
import type { TokenUser } from "./session.js";
import type { SessionStorage } from "./surroundings.js";
import type { Send } from "./transport.js";

export type OAuthProvider = "google" | "apple" | "github";

/** Social sign-in (specification 5.6). Needs `crypto.subtle`: a secure context, in browsers. */
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

  /** Providers that the project offers. */
  async providers(): Promise<readonly { readonly provider: OAuthProvider; readonly callback_url: string }[]> {
    const { data } = await this.#send({ method: "GET", path: "/auth/oauth/providers" });
    return data as readonly { readonly provider: OAuthProvider; readonly callback_url: string }[];
  }

  /**
   * Begins a sign-in. Send the browser to the URL; it comes back to `redirectTo`, one of `$auth.redirect_urls`, for
   * `exchange`. The verifier (RFC 7636) waits in this tab.
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
   * Ends it, on the page of `redirectTo`: signs in with the code of the page's URL. Null where the URL holds neither a
   * code nor an error, or where this tab has not begun a sign-in; an error of the provider is thrown. Take the code out of
   * the address afterwards.
   */
  async exchange(url: string): Promise<TokenUser | null> {
    const parameters = new URL(url).searchParams;
    const verifier = await this.#storage.get(this.#key);
    if (verifier === null) return null;
    const [error, code] = [parameters.get("error"), parameters.get("code")];
    if (error === null && code === null) return null;
    // One verifier is for one exchange, however that ends.
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
