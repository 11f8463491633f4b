// @ts-check
// Plain JavaScript, so that a Worker loads this file from the sources and from the build alike.
import { parentPort } from "node:worker_threads";
import { argon2id } from "hash-wasm";

/**
 * Answers each job with its hash, or with undefined when it cannot be computed: an error might quote the
 * password.
 *
 * @param {import("./argon2.js").HashJob} job
 */
async function answer({ password, salt, memoryKib, passes, lanes, hashBytes }) {
  const hash = await argon2id({
    password,
    salt,
    memorySize: memoryKib,
    iterations: passes,
    parallelism: lanes,
    hashLength: hashBytes,
    outputType: "binary",
  }).catch(() => undefined);
  parentPort?.postMessage(hash);
}

parentPort?.on("message", answer);
