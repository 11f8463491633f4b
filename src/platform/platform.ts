import type { AtOnce } from "./at-once.js";
import type { Commits } from "./commits.js";
import type { Database } from "./database.js";
import type { Journal } from "./journal.js";

/**
 * What a runtime (Node, Workers) provides to the application. Everything that is not a pure function of its arguments
 * comes from here: the database, time, random bytes, the network.
 */
export interface Platform {
  readonly database: Database;
  readonly passwordHasher: PasswordHasher;
  readonly commits: Commits;
  readonly clock: Clock;
  readonly random: Random;
  /** Makes a cipher from a key of 32 bytes. */
  readonly cipher: (key: Uint8Array<ArrayBuffer>) => Cipher;
  readonly log: Log;
  readonly mail: MailTransport;
  readonly journal: Journal;
  /** Access to the network, with the interface of the global `fetch`. */
  readonly fetch: typeof globalThis.fetch;
  /**
   * The credentials of a sign-in provider, as the JSON text that was installed; null where none are. Throws
   * CredentialsError where they cannot be opened.
   */
  providerCredentials(provider: string): Promise<string | null>;
  /**
   * Runs work in the background at the next tick (see `msToTick`), so that the response times until then do not
   * reveal whether there was any. If the same function is passed several times before the tick, it may run only once.
   * A failure is logged and otherwise ignored.
   */
  defer(work: () => Promise<void>): void;
  /**
   * Whether the runtime may cancel a request so that its promises never settle, as on a Worker. Then what outlives a
   * request must not wait for a promise that a request has begun.
   */
  readonly requestsVanish: boolean;
}

/** Installed credentials cannot be used. The message contains no secret, so it can be logged. */
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
  /** An address with or without a display name (RFC 5322, section 3.4). */
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /**
   * The URL that the text and the HTML link to, so that a transport can print it separately; null where there is none.
   */
  readonly link: string | null;
}

/** For whom a password is hashed, by which those who wait for a hash take turns. */
export interface HashTurn {
  /** The client's address, as `addressUnit` gives it. */
  readonly address: string;
  /**
   * What the hash is for. One for a `sign_in`, by somebody who has an account or a link to one, is computed before one
   * for a `registration`.
   */
  readonly isFor: "sign_in" | "registration";
}

/**
 * Hashes passwords with Argon2id: 19456 KiB of memory, 2 passes, 1 lane (OWASP Password Storage Cheat Sheet). A hash
 * without a `turn` counts as one for whoever operates the server.
 */
export interface PasswordHasher {
  /** Hashes a password. Returns a PHC string; throws HasherBusyError where too many hashes wait already. */
  hash(password: string, turn?: HashTurn): Promise<string>;
  /**
   * Whether the password matches the stored Argon2id or bcrypt string. False for an unusable string, and for a
   * password over 72 bytes against bcrypt. Throws HasherBusyError.
   */
  verify(password: string, stored: string, turn?: HashTurn): Promise<boolean>;
  /** Whether a password would be hashed now for this caller and purpose, rather than HasherBusyError thrown. */
  hasRoomFor(turn: HashTurn): boolean;
  /** Tells how good a stored password string is, without computing a hash. */
  standing(stored: string): PasswordStanding;
}

/**
 * What a stored password string is: `current` as `hash` writes it now, `outdated` with other parameters or bcrypt,
 * `unusable` where `verify` is false for every password.
 */
export type PasswordStanding = "current" | "outdated" | "unusable";

/** Too many hashes are waiting already: the request should be repeated later. */
export class HasherBusyError extends Error {
  override readonly name = "HasherBusyError";
}

/** The time. `now` may jump when the system's clock is set; `elapsed` does not. */
export interface Clock {
  /** The time in milliseconds since the Unix epoch. */
  now(): number;
  /** Monotonic milliseconds, with fractions, since an unspecified moment: only differences are meaningful. */
  elapsed(): number;
}

/** Random numbers that cannot be guessed. */
export interface Random {
  /** Random bytes from a cryptographic source. */
  bytes(length: number): Uint8Array<ArrayBuffer>;
}

/**
 * Encrypts and decrypts texts with AES-256-GCM under one key. A sealed text is the initialisation vector, the
 * ciphertext and the tag, concatenated, as base64url.
 */
export interface Cipher {
  /**
   * Encrypts `plain`. `iv` has 12 bytes and must never be used twice with one key. `associated` is authenticated but
   * not part of the result.
   */
  seal(plain: string, associated: string, iv: Uint8Array<ArrayBuffer>): AtOnce<string>;
  /** Decrypts a sealed text; null where it was not sealed with this key and this associated data, or was altered. */
  open(sealed: string, associated: string): AtOnce<string | null>;
}

/** Messages for whoever operates the server. */
export interface Log {
  warn(message: string): void;
  /** Reports a failure that a person should look at. Callers pass no secret, token or request body. */
  error(message: string, cause: unknown): void;
  /**
   * Writes a whole line of the request log, given without its end. It may be written some milliseconds later, but in
   * order.
   */
  line(text: string): void;
}
