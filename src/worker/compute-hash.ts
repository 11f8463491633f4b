import { argon2id, bcrypt } from "hash-wasm";
import type { HashJob } from "../platform/password-hasher.js";

export async function computeHash(job: HashJob): Promise<Uint8Array> {
  if (job.kind === "bcrypt") {
    const { password, salt, costFactor } = job;
    // hash-wasm gives the last of the 24 bytes too, which no encoding holds.
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
