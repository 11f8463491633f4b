import { argon2id, bcrypt } from "hash-wasm";
import type { HashJob } from "../platform/password-hasher.js";

/** Computes a hash with hash-wasm, on the current thread. Rejects with hash-wasm's error for an empty password. */
export async function computeHash(job: HashJob): Promise<Uint8Array> {
  if (job.kind === "bcrypt") {
    const { password, salt, costFactor } = job;
    // bcrypt computes 24 bytes, but a bcrypt string holds only the first 23 of them.
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
