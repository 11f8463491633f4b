import { inTurn } from "../platform/in-turn.js";
import { parseBcrypt } from "../platform/modular-crypt.js";
import { createPasswordHasher, type HashJob } from "../platform/password-hasher.js";
import { HasherBusyError, type PasswordHasher } from "../platform/platform.js";
import { systemRandom } from "./system.js";

/**
 * Hashes passwords with native libraries in libuv's thread pool: Argon2id, and bcrypt for imported users. One hash at
 * a time, so that logins neither block the event loop nor take 19 MiB each at once. At most `queueMax` (64) more
 * wait; further ones throw HasherBusyError. `close` refuses the waiting ones and waits for the hash that is being
 * computed.
 */
export function createArgon2({ queueMax = 64 }: { queueMax?: number } = {}): PasswordHasher & {
  close(): Promise<void>;
} {
  const next = inTurn();
  let unfinished = 0;
  let closed = false;

  const computeNext = async (job: HashJob): Promise<Uint8Array> => {
    if (closed) throw new Error("the password hasher is closed");
    return computeHash(job);
  };
  const compute = async (job: HashJob): Promise<Uint8Array> => {
    if (unfinished > queueMax) throw new HasherBusyError("too many passwords are waiting to be hashed");
    unfinished++;
    return next(() => computeNext(job)).finally(() => unfinished--);
  };
  return {
    ...createPasswordHasher(compute, systemRandom),
    close: async () => {
      closed = true;
      await next(async () => {});
    },
  };
}

/** Loads the library with the first password, to keep the server's start short. */
async function computeHash(job: HashJob): Promise<Uint8Array> {
  if (job.kind === "bcrypt") {
    const { hash } = await import("@node-rs/bcrypt");
    return parseBcrypt(await hash(job.password, job.costFactor, job.salt))!.hash;
  }
  const { password, salt, memoryKib, passes, lanes, hashBytes } = job;
  // hash-wasm refuses the empty password on Workers, so both runtimes do.
  if (password.length === 0) throw new Error("the password cannot be hashed");
  const { hashRaw } = await import("@node-rs/argon2");
  // The library's defaults are Argon2id and version 19.
  return hashRaw(password, {
    salt,
    memoryCost: memoryKib,
    timeCost: passes,
    parallelism: lanes,
    outputLen: hashBytes,
  });
}
