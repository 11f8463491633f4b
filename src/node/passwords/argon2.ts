import { parseBcrypt } from "../../platform/modular-crypt.js";
import { createPasswordHasher, type HashJob } from "../../platform/password-hasher.js";
import { HasherBusyError, type HashTurn, type PasswordHasher } from "../../platform/platform.js";
import { systemRandom } from "../system.js";
import { HashQueue } from "./hash-queue.js";

interface WaitingHash extends HashTurn {
  readonly job: HashJob;
  readonly resolve: (hash: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Hashes with native libraries in libuv's thread pool: Argon2id, and bcrypt for imported users. Only one hash is
 * computed at a time, so that logins neither block the event loop nor take 19 MiB each at once. At most `queueMax` (64
 * by default) more passwords wait, and `HashQueue` decides which ones; the others get HasherBusyError. `close` refuses
 * the waiting passwords and waits for the hash that is being computed.
 */
export function createArgon2({ queueMax = 64 }: { queueMax?: number } = {}): PasswordHasher & {
  close(): Promise<void>;
} {
  const queue = new HashQueue<WaitingHash>(queueMax);
  let running: Promise<void> | null = null;
  let closed = false;

  const computeAll = async (): Promise<void> => {
    for (let work = queue.next(); work !== undefined; work = queue.next()) {
      if (closed) work.reject(closedError());
      else await computeHash(work.job).then(work.resolve, work.reject);
    }
    running = null;
  };
  const compute = async (job: HashJob, turn: HashTurn): Promise<Uint8Array> => {
    if (closed) throw closedError();
    return new Promise((resolve, reject) => {
      const displaced = queue.add({ ...turn, job, resolve, reject });
      displaced?.reject(new HasherBusyError("too many passwords are waiting to be hashed"));
      running ??= computeAll();
    });
  };
  return {
    ...createPasswordHasher(compute, systemRandom, (turn) => queue.hasRoomFor(turn)),
    close: async () => {
      closed = true;
      await running;
    },
  };
}

const closedError = () => new Error("the password hasher is closed");

/** Each library is loaded with the first password, to keep the server's start short. */
async function computeHash(job: HashJob): Promise<Uint8Array> {
  if (job.kind === "bcrypt") {
    const { hash } = await import("@node-rs/bcrypt");
    return parseBcrypt(await hash(job.password, job.costFactor, job.salt))!.hash;
  }
  const { password, salt, memoryKib, passes, lanes, hashBytes } = job;
  // hash-wasm, which hashes on Workers, refuses an empty password, too.
  if (password.length === 0) throw new Error("the password cannot be hashed");
  const { hashRaw } = await import("@node-rs/argon2");
  // The library's defaults are the wanted algorithm and version: Argon2id, version 19.
  return hashRaw(password, {
    salt,
    memoryCost: memoryKib,
    timeCost: passes,
    parallelism: lanes,
    outputLen: hashBytes,
  });
}
