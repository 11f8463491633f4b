import { randomBytes, timingSafeEqual } from "node:crypto";
import { Worker } from "node:worker_threads";
import { HasherBusyError, type PasswordHasher } from "../platform/platform.js";
import { bcryptPasswordBytesMax, parseBcrypt } from "./bcrypt.js";

/** One computation of the worker. */
export type HashJob = Argon2Job | BcryptJob;

/** The input of one Argon2id computation (RFC 9106, section 3.1). */
export interface Argon2Job {
  readonly kind: "argon2id";
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
  readonly hashBytes: number;
}

/** The input of one bcrypt computation, whose result are the 23 bytes that its encoding ends in. */
export interface BcryptJob {
  readonly kind: "bcrypt";
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  readonly costFactor: number;
}

/**
 * Argon2id, and bcrypt of imported users, in one worker thread, which starts with the first password and computes one hash at a time, so that
 * logins neither block the event loop nor take 19 MiB each at once. At most `queueMax` (64) more wait.
 * `close` rejects what is not finished.
 */
export function createArgon2({ queueMax = 64 }: { queueMax?: number } = {}): PasswordHasher & {
  close(): Promise<void>;
} {
  const queue = new HashQueue(queueMax);
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes);
      const hash = await queue.compute({
        kind: "argon2id",
        password: encode(password),
        salt,
        ...currentParameters,
      });
      return formatPhc(salt, hash);
    },

    async verify(password, stored) {
      const parsed = parseStored(stored);
      // The empty password has no hash: hash-wasm refuses to compute one.
      if (!parsed || password === "") return false;
      const { hash: expected, ...parameters } = parsed;
      const bytes = encode(password);
      const fits = parameters.kind === "argon2id" || bytes.length <= bcryptPasswordBytesMax;
      // What bcrypt would cut off is wrong, and costs what a wrong one costs.
      const taken = fits ? bytes : bytes.subarray(0, bcryptPasswordBytesMax);
      const hash = await queue.compute({ ...parameters, password: taken });
      return fits && timingSafeEqual(hash, expected);
    },

    standing(stored) {
      const parsed = parseStored(stored);
      if (!parsed) return "unusable";
      return parsed.kind === "argon2id" && isCurrent(parsed) ? "current" : "outdated";
    },

    close: () => queue.close(),
  };
}

const currentParameters = { memoryKib: 19456, passes: 2, lanes: 1, hashBytes: 32 };
const saltBytes = 16;

/** What a stored string may ask for, so that a row written elsewhere cannot occupy the worker. */
const memoryKibMax = 65536;
const passesMax = 10;
const lanesMax = 4;
const saltBytesMin = 8;
const hashBytesMin = 16;
const lengthBytesMax = 64;

function encode(password: string): Uint8Array {
  return new TextEncoder().encode(password);
}

function formatPhc(salt: Uint8Array, hash: Uint8Array): string {
  const { memoryKib, passes, lanes } = currentParameters;
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$${toBase64(salt)}$${toBase64(hash)}`;
}

type ParsedPhc = Omit<Argon2Job, "password"> & { readonly hash: Uint8Array };
type Parsed = ParsedPhc | (Omit<BcryptJob, "password"> & { readonly hash: Uint8Array });

function parseStored(stored: string): Parsed | undefined {
  const bcrypt = parseBcrypt(stored);
  return bcrypt === undefined ? parsePhc(stored) : { kind: "bcrypt", ...bcrypt };
}

function isCurrent({ memoryKib, passes, lanes, salt, hashBytes }: ParsedPhc): boolean {
  const current = currentParameters;
  return (
    memoryKib === current.memoryKib &&
    passes === current.passes &&
    lanes === current.lanes &&
    salt.length === saltBytes &&
    hashBytes === current.hashBytes
  );
}

const phcPattern =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,4}),t=([1-9]\d?),p=([1-9])\$([A-Za-z0-9+/]{1,100})\$([A-Za-z0-9+/]{1,100})$/;

function parsePhc(phc: string): ParsedPhc | undefined {
  const match = phcPattern.exec(phc);
  if (!match) return undefined;
  const [memoryKib, passes, lanes] = match.slice(1, 4).map(Number) as [number, number, number];
  const salt = fromBase64(match[4]!);
  const hash = fromBase64(match[5]!);
  if (!salt || !hash) return undefined;
  const parsed = { kind: "argon2id", memoryKib, passes, lanes, salt, hash, hashBytes: hash.length } as const;
  return isAcceptable(parsed) ? parsed : undefined;
}

function isAcceptable({ memoryKib, passes, lanes, salt, hashBytes }: ParsedPhc): boolean {
  return (
    memoryKib >= 8 * lanes &&
    memoryKib <= memoryKibMax &&
    passes <= passesMax &&
    lanes <= lanesMax &&
    salt.length >= saltBytesMin &&
    salt.length <= lengthBytesMax &&
    hashBytes >= hashBytesMin &&
    hashBytes <= lengthBytesMax
  );
}

/** The PHC string format writes base64 without padding. */
function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}

function fromBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64");
  return toBase64(bytes) === text ? bytes : undefined;
}

interface Waiting {
  readonly job: HashJob;
  readonly resolve: (hash: Uint8Array) => void;
  readonly reject: (reason: Error) => void;
}

/** First come, first served, one at a time. The worker keeps the process alive only while it computes. */
class HashQueue {
  readonly #waitingMax: number;
  readonly #waiting: Waiting[] = [];
  #current: Waiting | undefined;
  #worker: Worker | undefined;
  #closed = false;

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** Throws HasherBusyError when too many wait, and Error when the worker stopped or refused. */
  async compute(job: HashJob): Promise<Uint8Array> {
    if (this.#closed) throw closedError();
    if (this.#current && this.#waiting.length >= this.#waitingMax) {
      throw new HasherBusyError("too many passwords are waiting to be hashed");
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      if (!this.#current) this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(closedError());
    this.#current?.reject(closedError());
    await this.#worker?.terminate();
  }

  #next(): void {
    this.#current = this.#waiting.shift();
    if (!this.#current) {
      this.#worker?.unref();
      return;
    }
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(this.#current.job);
  }

  #start(): Worker {
    const worker = new Worker(new URL("./argon2-worker.js", import.meta.url));
    worker.on("message", (hash: Uint8Array | undefined) => this.#finish(hash));
    let cause: unknown;
    // `exit` follows, and a listener keeps the error from ending the process.
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", () => this.#lose(cause));
    return worker;
  }

  #finish(hash: Uint8Array | undefined): void {
    if (hash) this.#current?.resolve(hash);
    else this.#current?.reject(new Error("the password cannot be hashed"));
    this.#next();
  }

  /** The job that ran may be what stopped the worker: it fails, the next one starts another. */
  #lose(cause: unknown): void {
    this.#worker = undefined;
    this.#current?.reject(new Error("the password hashing worker stopped", { cause }));
    this.#next();
  }
}

function closedError(): Error {
  return new Error("the password hasher is closed");
}
