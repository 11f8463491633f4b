import { inTurn } from "../platform/in-turn.js";
import { parseBcrypt } from "../platform/modular-crypt.js";
import { createPasswordHasher, type HashJob } from "../platform/password-hasher.js";
import { HasherBusyError, type PasswordHasher } from "../platform/platform.js";
import { systemRandom } from "./system.js";

/**
 * Argon2id, and bcrypt of imported users, of native libraries in libuv's thread pool, one hash at a time, so that logins neither
 * block the event loop nor take 19 MiB each at once. At most `queueMax` (64) more wait. `close` refuses those, and waits for
 * the one that is being computed.
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

/** The libraries are loaded with the first password. */
async function computeHash(job: HashJob): Promise<Uint8Array> {
  if (job.kind === "bcrypt") {
    const { hash } = await import("@node-rs/bcrypt");
    return parseBcrypt(await hash(job.password, job.costFactor, job.salt))!.hash;
  }
  const { password, salt, memoryKib, passes, lanes, hashBytes } = job;
  // As hash-wasm does on Workers.
  if (password.length === 0) throw new Error("the password cannot be hashed");
  const { hashRaw } = await import("@node-rs/argon2");
  // Argon2id of version 19, unless it is told otherwise.
  return hashRaw(password, {
    salt,
    memoryCost: memoryKib,
    timeCost: passes,
    parallelism: lanes,
    outputLen: hashBytes,
  });
}
