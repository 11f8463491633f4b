import { toHex } from "../encoding/hex.js";
import { inTurn } from "../platform/in-turn.js";
import { createPasswordHasher } from "../platform/password-hasher.js";
import type { PasswordHasher, Random } from "../platform/platform.js";
import { computeHash } from "./compute-hash.js";
import { keepArgon2 } from "./keep-argon2.js";
import { modules } from "./wasm/modules.js";

/**
 * Hashes passwords with hash-wasm on the isolate's only thread: Argon2id, and bcrypt for imported users. One hash at a
 * time. A computation waits for nothing outside of it, so a request that is cancelled cannot leave one half done and
 * block the queue. Nor can a queue of requests form while it runs, so turns (`HashTurn`) have no effect here: which
 * request comes to its hash next is decided by the runtime, as it hands out what the requests wait for.
 */
export function createArgon2(random: Random): PasswordHasher {
  givePrecompiledModules();
  keepArgon2();
  return createPasswordHasher((job) => next(() => computeHash(job)), random);
}

/** One queue for the isolate, because it has one Argon2 instance. */
const next = inTurn();

/**
 * Makes hash-wasm use the modules of the build: the build has replaced each binary in it by its SHA-256, under which
 * `modules` holds the compiled one.
 */
function givePrecompiledModules(): void {
  const compile: typeof WebAssembly.compile = async (digest) => modules.get(toHex(new Uint8Array(digest)))!;
  Object.assign(WebAssembly, { compile });
}
