import type { TokenResponse } from "./authorized.js";
import { SvcError } from "./error.js";
import type { TokenUser } from "./session.js";
import type { SessionStorage } from "./surroundings.js";
import type { Send } from "./transport.js";

export type OAuthProvider = "google" | "apple" | "github";

/** Social sign-in (specification 5.6). Needs `crypto.subtle`: a secure context, in browsers. */
export class OAuth {
  constructor(
    private readonly send: Send,
    private readonly accept: (tokens: TokenResponse) => Promise<TokenUser>,
    private readonly storage: SessionStorage,
    private readonly key: string,
  ) {}

  /** Providers that the project offers. */
  async providers(): Promise<readonly { readonly provider: OAuthProvider; readonly callback_url: string }[]> {
    return (await this.send({ method: "GET", path: "/auth/oauth/providers" })).data;
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
    const { data } = await this.send({ method: "POST", path: "/auth/oauth/authorize", body });
    await this.storage.set(this.key, verifier);
    return (data as { readonly authorization_url: string }).authorization_url;
  }

  /**
   * Ends it, on the page of `redirectTo`: signs in with the code of the page's URL. Null where the URL holds neither a
   * code nor an error; an error of the provider is thrown. Take the code out of the address afterwards.
   */
  async exchange(url: string): Promise<TokenUser | null> {
    const parameters = new URL(url).searchParams;
    const error = parameters.get("error");
    if (error !== null) throw new SvcError(0, error, parameters.get("error_description") ?? error);
    const code = parameters.get("code");
    if (code === null) return null;
    const body = { code, code_verifier: (await this.storage.get(this.key)) ?? "" };
    const { data } = await this.send({ method: "POST", path: "/auth/oauth/exchange", body });
    await this.storage.remove(this.key);
    return this.accept(data);
  }
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
