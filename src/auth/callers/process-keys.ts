import { hashSecret } from "../../encoding/hash-secret.js";
import type { Random } from "../../platform/platform.js";
import { apiKeyRandomBytes, newApiKey } from "./api-key.js";

/** An API key that exists in the memory of one process. Receipts and the log of changes name it by its id. */
export interface ProcessKey {
  readonly id: string;
  readonly scopes: readonly string[];
}

/**
 * API keys of the program that a server runs in (`asKey` of `createSvc`). They are in no database, and end with the
 * process. Their secrets never leave it.
 */
export class ProcessKeys {
  readonly #random: Random;
  readonly #secrets = new Map<string, string>();
  readonly #byHash = new Map<string, ProcessKey>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** The secret of the key with these scopes. It is made once. */
  async secretFor(scopes: readonly string[]): Promise<string> {
    const name = JSON.stringify([...new Set(scopes)].sort());
    const secret = this.#secrets.get(name) ?? newApiKey(this.#random.bytes(apiKeyRandomBytes));
    this.#secrets.set(name, secret);
    const hash = await hashSecret(secret);
    if (!this.#byHash.has(hash)) this.#byHash.set(hash, { id: "host", scopes });
    return secret;
  }

  /** By the SHA-256 of its secret in base64url. */
  find(hash: string): ProcessKey | undefined {
    return this.#byHash.get(hash);
  }
}
