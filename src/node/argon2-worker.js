// @ts-check
// Plain JavaScript, so that a Worker loads this file from the sources and from the build alike.
import { getPriority, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { computeHash } from "../platform/compute-hash.js";
import { keepArgon2 } from "../platform/keep-argon2.js";

yieldToRequests();
keepArgon2();

/** A password waits where the processor is busy: a request waits for no password. Elsewhere priorities are of processes. */
function yieldToRequests() {
  if (process.platform !== "linux") return;
  try {
    setPriority(Math.min(getPriority() + 10, 19));
  } catch {
    // Not permitted here: the password is hashed all the same.
  }
}

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
