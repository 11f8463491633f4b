import type { AtOnce } from "./at-once.js";
import type { Database } from "./database.js";
import type { Journal } from "./journal.js";

/** What a runtime gives the application. Everything that is not a pure function of its arguments comes from here. */
export interface Platform {
  readonly database: Database;
  readonly passwordHasher: PasswordHasher;
  readonly clock: Clock;
  readonly random: Random;
  /** Of a key of 32 bytes. */
  readonly cipher: (key: Uint8Array<ArrayBuffer>) => Cipher;
  readonly log: Log;
  readonly mail: MailTransport;
  readonly journal: Journal;
  /** The network, as the global function of that name. */
  readonly fetch: typeof globalThis.fetch;
  /**
   * The credentials of a sign-in provider, as the JSON that was installed; null where none are. Throws CredentialsError
   * where they cannot be opened.
   */
  providerCredentials(provider: string): Promise<string | null>;
  /**
   * Begins work at the next tick (see `msToTick`), so that how long the answers until then take tells nothing of it. The
   * same function may be run once for all who handed it over. A failure is logged and lost.
   */
  defer(work: () => Promise<void>): void;
  /**
   * Whether a request may vanish half-way, its promises never settled, as on a Worker: whatever outlives a request must
   * not wait for one.
   */
  readonly requestsVanish: boolean;
}

/** Credentials that are there cannot be used. The message is fit for the log. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

/** Hands one message to whatever delivers it. */
export interface MailTransport {
  /** Resolves when the message was accepted, and only then. Throws, within 30 seconds, otherwise. */
  send(message: MailMessage): Promise<void>;
}

export interface MailMessage {
  /** RFC 5322, section 3.4: an address with or without a display name. */
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The one address that both lead to, for a transport that shows it beside; null where there is none. */
  readonly link: string | null;
}

/** Argon2id with the current parameters: 19456 KiB, 2 passes, 1 lane (OWASP; interface, section 6). */
export interface PasswordHasher {
  /** A PHC string. Throws HasherBusyError. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password belongs to the stored string, which is Argon2id or bcrypt; false for one that is unusable, and for a
   * password over 72 bytes where it is bcrypt. Throws HasherBusyError.
   */
  verify(password: string, stored: string): Promise<boolean>;
  /**
   * What a stored string is, without a hash being run: `current` as `hash` writes them, `outdated` of other parameters or
   * bcrypt, `unusable` where `verify` is false for every password.
   */
  standing(stored: string): PasswordStanding;
}

export type PasswordStanding = "current" | "outdated" | "unusable";

/** More hashes are waiting than can be computed in reasonable time. */
export class HasherBusyError extends Error {
  override readonly name = "HasherBusyError";
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since any moment, with fractions, which never go back. */
  elapsed(): number;
}

export interface Random {
  /** Bytes from a cryptographic source. */
  bytes(length: number): Uint8Array<ArrayBuffer>;
}

/** AES-256-GCM. What is sealed is the initialisation vector, the text and the tag, in one piece, as base64url. */
export interface Cipher {
  /** `iv` are 12 bytes, never used twice. */
  seal(plain: string, associated: string, iv: Uint8Array<ArrayBuffer>): AtOnce<string>;
  /** Null where the key, the associated data or the text are not those of `seal`. */
  open(sealed: string, associated: string): AtOnce<string | null>;
}

export interface Log {
  warn(message: string): void;
  /** A failure that a person should look at. Never given a secret, a token or a body. */
  error(message: string, cause: unknown): void;
}
