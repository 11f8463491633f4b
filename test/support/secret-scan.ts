/** Shorter ones stand in logs by chance, such as a password `password` in the route /auth/password. */
const lengthMin = 10;

/** What no log may hold, whoever made it: refresh tokens, API keys, tokens of the console, access tokens, hashes, credentials as they are sent. */
const shapes = [
  /svc_(rt|sk|cs)_[\w-]{12}/,
  /\beyJ[\w-]{8,}\.[\w-]{8,}/,
  /\$argon2/,
  /\$2[aby]\$\d\d\$/,
  /\bBearer \S{8}/,
];

/** Of a user, a session or a key, which a log may name. Tests present one as a password, too. */
const isId = (text: string) => /^[\da-f]{32}$/.test(text);

const passwords = ["password", "current_password", "password_hash", "email"];
const tokens = ["token", "refresh_token", "code", "code_verifier", "state"];

/** Remembers the secrets that a test makes, and finds them in what a server writes. */
export class SecretScan {
  readonly #secrets = new Set<string>();

  keep(...secrets: readonly string[]): void {
    for (const secret of secrets) if (secret.length >= lengthMin && !isId(secret)) this.#secrets.add(secret);
  }

  /**
   * What a request presents: passwords and addresses under /auth and /admin/api, and where it was accepted the tokens and
   * keys too. Tests present as tokens what is none, such as an id of the database, which may be in a log.
   */
  keepRequest(path: string, init: RequestInit, isAccepted: boolean): void {
    const headers = new Headers(init.headers);
    if (isAccepted) {
      this.keep(headers.get("Authorization")?.replace(/^\S+ /, "") ?? "", headers.get("X-API-Key") ?? "");
      for (const cookie of headers.get("Cookie")?.split("; ") ?? []) this.keep(cookie.replace(/^[^=]*=/, ""));
      this.#keepForm(path.split("?")[1] ?? "", tokens);
    }
    if (!isOfAccounts(path) || typeof init.body !== "string") return;
    const fields = isAccepted ? [...passwords, ...tokens] : passwords;
    if (init.body.startsWith("{")) this.#keepJson(init.body, fields);
    else this.#keepForm(init.body, fields);
  }

  /** The tokens and keys that an answer of /auth or /admin/api hands out. */
  async keepResponse(path: string, response: Response): Promise<void> {
    for (const cookie of response.headers.getSetCookie()) this.keep(cookie.replace(/^[^=]*=/, "").split(";")[0]!);
    this.#keepForm(response.headers.get("Location")?.split("?")[1] ?? "", ["code"]);
    const handedOut = ["access_token", "refresh_token", path === "/admin/api/service-keys" ? "key" : ""];
    const isStream = response.headers.get("Content-Type") === "text/event-stream";
    if (isOfAccounts(path) && !isStream) this.#keepJson(await response.clone().text(), handedOut);
  }

  /** Those of the lines that hold a secret, each with it. */
  found(lines: readonly string[]): readonly string[] {
    const text = lines.join("\n");
    const isClean =
      !shapes.some((shape) => shape.test(text)) && ![...this.#secrets].some((secret) => text.includes(secret));
    if (isClean) return [];
    return lines.flatMap((line) => {
      const secret =
        shapes.map((shape) => shape.exec(line)?.[0]).find(Boolean) ??
        [...this.#secrets].find((kept) => line.includes(kept));
      return secret === undefined ? [] : [`${secret} in ${line}`];
    });
  }

  #keepForm(text: string, fields: readonly string[]): void {
    const parameters = new URLSearchParams(text);
    for (const field of fields) this.keep(...parameters.getAll(field));
  }

  #keepJson(text: string, fields: readonly string[]): void {
    try {
      JSON.parse(text, (field, value: unknown) => {
        if (typeof value === "string" && fields.includes(field)) this.keep(value);
        return value;
      });
    } catch {
      // Some tests send what is no JSON.
    }
  }
}

function isOfAccounts(path: string): boolean {
  return path.startsWith("/auth/") || path.startsWith("/admin/api/");
}
