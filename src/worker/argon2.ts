import { toHex } from "../encoding/hex.js";
import { inTurn } from "../platform/in-turn.js";
import { createPasswordHasher } from "../platform/password-hasher.js";
import type { PasswordHasher, Random } from "../platform/platform.js";
import { computeHash } from "./compute-hash.js";
import { keepArgon2 } from "./keep-argon2.js";
import { modules } from "./wasm/modules.js";

/**
 * Hashes passwords with hash-wasm on the isolate's only thread: Argon2id, and bcrypt for imported users. One hash at a
 * time. A computation waits for nothing outside of it, so a cancelled request cannot leave one half done and block the
 * queue. Nor can a queue of requests form while a hash is computed, so turns (`HashTurn`) have no effect here: the
 * runtime decides which request gets to its hash next.
 */
export function createArgon2(random: Random): PasswordHasher {
  givePrecompiledModules();
  keepArgon2();
  return createPasswordHasher((job) => next(() => computeHash(job)), random);
}

/** Runs hashes one after the other, for the whole isolate, because it has one Argon2 instance. */
const next = inTurn();

/**
 * Makes hash-wasm use the WebAssembly modules of the build: the build has replaced each binary in hash-wasm by its
 * SHA-256, under which `modules` holds the compiled module.
 */
function givePrecompiledModules(): void {
  const compile: typeof WebAssembly.compile = async (digest) => modules.get(toHex(new Uint8Array(digest)))!;
  Object.assign(WebAssembly, { compile });
}
