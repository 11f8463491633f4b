import { argon2id, bcrypt } from "hash-wasm";
import type { HashJob } from "../platform/password-hasher.js";

/** Computes a password's hash with hash-wasm, on the current thread. Rejects the empty password. */
export async function computeHash(job: HashJob): Promise<Uint8Array> {
  if (job.kind === "bcrypt") {
    const { password, salt, costFactor } = job;
    // hash-wasm returns 24 bytes, but a bcrypt string holds only the first 23.
    return (await bcrypt({ password, salt, costFactor, outputType: "binary" })).subarray(0, 23);
  }
  const { password, salt, memoryKib, passes, lanes, hashBytes } = job;
  return argon2id({
    password,
    salt,
    memorySize: memoryKib,
    iterations: passes,
    parallelism: lanes,
    hashLength: hashBytes,
    outputType: "binary",
  });
}
