import { toHex } from "../encoding/hex.js";
import { inTurn } from "../platform/in-turn.js";
import { createPasswordHasher } from "../platform/password-hasher.js";
import type { PasswordHasher, Random } from "../platform/platform.js";
import { computeHash } from "./compute-hash.js";
import { keepArgon2 } from "./keep-argon2.js";
import { modules } from "./wasm/modules.js";

/**
 * Hashes passwords with hash-wasm on the isolate's only thread: Argon2id, and bcrypt for imported users, one hash at a
 * time. A computation waits for nothing outside of it, so a request that is cancelled meanwhile cannot leave it half
 * done and block those behind it.
 * A `HashTurn` has no effect: while the thread computes, no other request can even begin to wait, and the runtime
 * decides which request runs next.
 */
export function createArgon2(random: Random): PasswordHasher {
  givePrecompiledModules();
  keepArgon2();
  return createPasswordHasher((job) => next(() => computeHash(job)), random);
}

/** All requests of the isolate share one Argon2 instance, which can compute only one hash at a time. */
const next = inTurn();

/**
 * Makes hash-wasm use the WebAssembly modules that the build has compiled. The build's copy of hash-wasm has the
 * SHA-256 of each binary in its place, which `WebAssembly.compile` looks up in `modules`.
 */
function givePrecompiledModules(): void {
  const compile: typeof WebAssembly.compile = async (digest) => modules.get(toHex(new Uint8Array(digest)))!;
  Object.assign(WebAssembly, { compile });
}
