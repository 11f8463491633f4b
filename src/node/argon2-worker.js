// @ts-check
// Plain JavaScript, so that a Worker loads this file from the sources and from the build alike.
import { parentPort } from "node:worker_threads";
import { argon2id, bcrypt } from "hash-wasm";

/**
 * Answers each job with its hash, or with undefined when it cannot be computed: an error might quote the
 * password.
 *
 * @param {import("./argon2.js").HashJob} job
 */
async function answer(job) {
  const hash = await compute(job).catch(() => undefined);
  parentPort?.postMessage(hash);
}

/** @param {import("./argon2.js").HashJob} job */
async function compute(job) {
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

parentPort?.on("message", answer);
