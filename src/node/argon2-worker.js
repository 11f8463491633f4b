// @ts-check
// Plain JavaScript, so that a Worker loads this file from the sources and from the build alike.
import { parentPort } from "node:worker_threads";
import { computeHash } from "../platform/compute-hash.js";
import { keepArgon2 } from "../platform/keep-argon2.js";

keepArgon2();

/**
 * Answers each job with its hash, or with undefined when it cannot be computed: an error might quote the
 * password.
 *
 * @param {import("../platform/password-hasher.js").HashJob} job
 */
async function answer(job) {
  const hash = await computeHash(job).catch(() => undefined);
  parentPort?.postMessage(hash);
}

parentPort?.on("message", answer);
