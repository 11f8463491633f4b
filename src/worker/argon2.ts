import { toHex } from "../encoding/hex.js";
import { inTurn } from "../platform/in-turn.js";
import { createPasswordHasher } from "../platform/password-hasher.js";
import type { PasswordHasher, Random } from "../platform/platform.js";
import { computeHash } from "./compute-hash.js";
import { keepArgon2 } from "./keep-argon2.js";
import { modules } from "./wasm/modules.js";

/**
 * Argon2id, and bcrypt of imported users, on the thread of the isolate, which has no other: one hash at a time. Nothing in
 * a computation waits for anything outside, so that no request which vanishes can leave one half done.
 */
export function createArgon2(random: Random): PasswordHasher {
  givePrecompiledModules();
  keepArgon2();
  return createPasswordHasher((job) => next(() => computeHash(job)), random);
}

/** As there is one instance for the isolate, so there is one queue. */
const next = inTurn();

/** The build has replaced each binary of hash-wasm by its SHA-256: here are the modules that it has made of them. */
function givePrecompiledModules(): void {
  const compile: typeof WebAssembly.compile = async (digest) => modules.get(toHex(new Uint8Array(digest)))!;
  Object.assign(WebAssembly, { compile });
}
