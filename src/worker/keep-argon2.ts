/**
 * What hash-wasm's Argon2 module exports. The memory blocks that a computation fills begin at `Hash_GetBuffer()`, and
 * go on to the end of `memory`.
 */
interface Argon2Exports {
  readonly memory: WebAssembly.Memory;
  Hash_GetBuffer(): number;
}

let isKept = false;

/**
 * Makes hash-wasm use one Argon2 instance for all hashes of the isolate: it would make one for each hash, and each
 * leaves 19 MiB to the garbage collector. From then on, callers may compute only one hash at a time.
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

/**
 * Clears the memory blocks, as in a new instance. With the blocks of the hash before, the next hash would come out
 * wrong.
 */
function wipe({ memory, Hash_GetBuffer }: Argon2Exports): void {
  new Uint8Array(memory.buffer, Hash_GetBuffer()).fill(0);
}
