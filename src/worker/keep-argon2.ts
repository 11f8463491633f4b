/** The exports of hash-wasm's Argon2, whose blocks begin at `Hash_GetBuffer` and go on to the end of the memory. */
interface Argon2Exports {
  readonly memory: WebAssembly.Memory;
  Hash_GetBuffer(): number;
}

let isKept = false;

/**
 * From now on there is one Argon2 for the whole isolate, so that only one hash may be computed at a time. A fresh instance a
 * hash, as hash-wasm makes them, leaves 19 MiB to the garbage collector each time.
 */
export function keepArgon2(): void {
  if (isKept) return;
  isKept = true;
  const { instantiate } = WebAssembly;
  let kept: WebAssembly.Instance | undefined;
  const instantiateOnce = async (module: WebAssembly.Module): Promise<WebAssembly.Instance> => {
    const isArgon2 = WebAssembly.Module.exports(module).some(({ name }) => name === "Hash_SetMemorySize");
    if (!isArgon2) return instantiate(module, {});
    if (kept === undefined) kept = await instantiate(module, {});
    else wipe(kept.exports as unknown as Argon2Exports);
    return kept;
  };
  Object.assign(WebAssembly, { instantiate: instantiateOnce });
}

/** Hashes come out wrong unless the blocks are zero, as they are in a fresh instance. */
function wipe({ memory, Hash_GetBuffer }: Argon2Exports): void {
  new Uint8Array(memory.buffer, Hash_GetBuffer()).fill(0);
}
