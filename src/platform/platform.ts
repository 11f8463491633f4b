import type { AtOnce } from "./at-once.js";
import type { Commits } from "./commits.js";
import type { Database } from "./database.js";
import type { Journal } from "./journal.js";

/** What a runtime provides to the application: all that is not a pure function of its arguments. */
export interface Platform {
  readonly database: Database;
  readonly passwordHasher: PasswordHasher;
  readonly commits: Commits;
  readonly clock: Clock;
  readonly random: Random;
  /** From a key of 32 bytes. */
  readonly cipher: (key: Uint8Array<ArrayBuffer>) => Cipher;
  readonly log: Log;
  readonly mail: MailTransport;
  readonly journal: Journal;
  /** With the interface of the global `fetch`. */
  readonly fetch: typeof globalThis.fetch;
  /**
   * The decrypted credentials of a sign-in provider such as `google`: the JSON text that the operator has installed.
   * Null if none are installed. Throws CredentialsError if they cannot be decrypted.
   */
  providerCredentials(provider: string): Promise<string | null>;
  /**
   * Runs `work` in the background, beginning at the next tick, a full second of the clock (see `msToTick`). Work that
   * began at once would slow down the next responses and so reveal that there was any. If the same function is passed
   * several times before the tick, it may run only once. A failure is logged and otherwise ignored.
   */
  defer(work: () => Promise<void>): void;
  /**
   * Whether the runtime may cancel a request so that its promises never settle, as a Worker does. Then code that
   * outlives the request, such as a cache for all requests, must not wait for a promise that the request has begun.
   */
  readonly requestsVanish: boolean;
}

/** Installed credentials of a sign-in provider cannot be used. The message contains no secret, so it can be logged. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

/** Hands mail to a service that delivers it. */
export interface MailTransport {
  /** Resolves only when the service has accepted the message. Throws otherwise, after 30 seconds at the latest. */
  send(message: MailMessage): Promise<void>;
}

/** A mail with a plain text part and an HTML part of the same content. */
export interface MailMessage {
  /** With or without a display name (RFC 5322, section 3.4). */
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The URL that the text and the HTML link to, so that a transport can print it separately. */
  readonly link: string | null;
}

/**
 * For which client a password is hashed, and why. Of waiting passwords, sign-ins come first, and client addresses take
 * turns.
 */
export interface HashTurn {
  /** As `addressUnit` gives it. */
  readonly address: string;
  /** A `sign_in` is by somebody who has an account or a link to one. */
  readonly isFor: "sign_in" | "registration";
}

/**
 * Hashes passwords with Argon2id: 19456 KiB of memory, 2 passes, 1 lane (OWASP Password Storage Cheat Sheet). A call
 * without `turn` is one for the server's operator: it counts as a `sign_in` from a client address of its own.
 */
export interface PasswordHasher {
  /** Returns a PHC string; throws HasherBusyError if too many hashes wait already. */
  hash(password: string, turn?: HashTurn): Promise<string>;
  /**
   * Whether the password matches the stored Argon2id or bcrypt string. False if the string is neither or out of bounds,
   * for an empty password, and for a password over 72 bytes against bcrypt. Throws HasherBusyError if too many hashes
   * wait already.
   */
  verify(password: string, stored: string, turn?: HashTurn): Promise<boolean>;
  /**
   * Whether a password would be accepted now, to be hashed at once or when its turn comes. If not, `hash` and `verify`
   * would throw HasherBusyError.
   */
  hasRoomFor(turn: HashTurn): boolean;
  /** Computes no hash. */
  standing(stored: string): PasswordStanding;
}

/**
 * What a stored password string is. `current`: an Argon2id string with the parameters that `hash` uses now. `outdated`:
 * an Argon2id string with other parameters, or a bcrypt string. `unusable`: `verify` returns false for every password.
 */
export type PasswordStanding = "current" | "outdated" | "unusable";

/** Too many passwords wait to be hashed already. The client should repeat the request later. */
export class HasherBusyError extends Error {
  override readonly name = "HasherBusyError";
}

/** `now` may jump when the system's clock is set; `elapsed` does not. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Monotonic milliseconds, with fractions, since an unspecified moment: only differences are meaningful. */
  elapsed(): number;
  /**
   * Milliseconds of CPU time that the process has used, in all its threads: only differences are meaningful. The same
   * as `elapsed` where the runtime does not tell.
   */
  cpu(): number;
}

/** Random numbers that cannot be guessed. */
export interface Random {
  /** From a cryptographic source. */
  bytes(length: number): Uint8Array<ArrayBuffer>;
}

/**
 * AES-256-GCM under one key. A sealed text is the initialisation vector, the ciphertext and the tag, concatenated, as
 * base64url.
 */
export interface Cipher {
  /**
   * `iv` has 12 bytes and must never be used twice with one key. `associated` is authenticated but not part of the
   * result, so `open` needs the same text.
   */
  seal(plain: string, associated: string, iv: Uint8Array<ArrayBuffer>): AtOnce<string>;
  /** Null if the text was not sealed with this key and this associated data, or was altered. */
  open(sealed: string, associated: string): AtOnce<string | null>;
}

/** Messages for the operator of the server. */
export interface Log {
  warn(message: string): void;
  /** Reports a failure that a person should look at. Callers pass no secret, token or request body. */
  error(message: string, cause: unknown): void;
  /**
   * Writes a line of the request log. `text` is the whole line without its line break. It may be written some
   * milliseconds later, but lines keep their order.
   */
  line(text: string): void;
}
