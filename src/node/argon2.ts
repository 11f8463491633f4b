import { Worker } from "node:worker_threads";
import { createPasswordHasher, type HashJob } from "../platform/password-hasher.js";
import { HasherBusyError, type PasswordHasher } from "../platform/platform.js";
import { systemRandom } from "./system.js";

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
    ...createPasswordHasher((job) => queue.compute(job), systemRandom),
    close: () => queue.close(),
  };
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
    const worker = new Worker(new URL("./argon2-worker.js", import.meta.url), {
      // Megabytes, beside those of Argon2 itself: what is computed here leaves next to nothing behind.
      resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
    });
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
