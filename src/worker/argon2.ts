import { toHex } from "../encoding/hex.js";
import { computeHash } from "../platform/compute-hash.js";
import { createPasswordHasher } from "../platform/password-hasher.js";
import type { PasswordHasher, Random } from "../platform/platform.js";
import { modules } from "./wasm/modules.js";

/**
 * Argon2id, and bcrypt of imported users, on the thread of the isolate, which has no other: one hash at a time. Nothing in
 * a computation waits for anything outside, so that no request which vanishes can leave one half done.
 */
export function createArgon2(random: Random): PasswordHasher {
  givePrecompiledModules();
  return createPasswordHasher((job) => {
    const hash = lastHash.then(() => computeHash(job));
    lastHash = hash.catch(() => {});
    return hash;
  }, random);
}

/** As there is one instance for the isolate, so there is one queue. */
let lastHash: Promise<unknown> = Promise.resolve();

/** The exports of hash-wasm's Argon2. */
interface Argon2Exports {
  readonly memory: WebAssembly.Memory;
  /** Where its blocks begin, which go on to the end of the memory. */
  Hash_GetBuffer(): number;
}

let keptArgon2: WebAssembly.Instance | undefined;

/** The build has replaced each binary of hash-wasm by its SHA-256: here are the modules that it has made of them. */
function givePrecompiledModules(): void {
  const { instantiate } = WebAssembly;
  const compile: typeof WebAssembly.compile = async (digest) => modules.get(toHex(new Uint8Array(digest)))!;
  const instantiateOnce: typeof WebAssembly.instantiate = async (module) => {
    const isArgon2 = WebAssembly.Module.exports(module).some(({ name }) => name === "Hash_SetMemorySize");
    if (!isArgon2) return instantiate(module, {});
    if (keptArgon2 === undefined) keptArgon2 = await instantiate(module, {});
    else wipe(keptArgon2.exports as Argon2Exports);
    return keptArgon2;
  };
  Object.assign(WebAssembly, { compile, instantiate: instantiateOnce });
}

/**
 * A fresh instance a hash would leave 19 MiB to the garbage collector each time, and isolates have 128. In one that is used
 * again, hashes come out wrong unless its blocks are zero, as they are in a fresh one.
 */
function wipe({ memory, Hash_GetBuffer }: Argon2Exports): void {
  new Uint8Array(memory.buffer, Hash_GetBuffer()).fill(0);
}
