// @ts-check
// Plain JavaScript, so that a thread of Node loads this file from the sources and from the build alike.

/**
 * The exports of hash-wasm's Argon2, whose blocks begin at `Hash_GetBuffer` and go on to the end of the memory.
 *
 * @typedef {{ memory: WebAssembly.Memory, Hash_GetBuffer(): number }} Argon2Exports
 */

let isKept = false;

/**
 * From now on there is one Argon2 for the whole isolate, so that only one hash may be computed at a time. A fresh instance a
 * hash, as hash-wasm makes them, leaves 19 MiB to the garbage collector each time.
 */
export function keepArgon2() {
  if (isKept) return;
  isKept = true;
  const { instantiate } = WebAssembly;
  /** @type {WebAssembly.Instance | undefined} */
  let kept;
  /** @param {WebAssembly.Module} module */
  const instantiateOnce = async (module) => {
    const isArgon2 = WebAssembly.Module.exports(module).some(({ name }) => name === "Hash_SetMemorySize");
    if (!isArgon2) return instantiate(module, {});
    if (kept === undefined) kept = await instantiate(module, {});
    else wipe(/** @type {Argon2Exports} */ (/** @type {unknown} */ (kept.exports)));
    return kept;
  };
  Object.assign(WebAssembly, { instantiate: instantiateOnce });
}

/**
 * Hashes come out wrong unless the blocks are zero, as they are in a fresh instance.
 *
 * @param {Argon2Exports} exports
 */
function wipe({ memory, Hash_GetBuffer }) {
  new Uint8Array(memory.buffer, Hash_GetBuffer()).fill(0);
}
