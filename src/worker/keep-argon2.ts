/**
 * The exports of hash-wasm's Argon2 module. The memory blocks of a computation begin at `Hash_GetBuffer` and go on to
 * the end of the memory.
 */
interface Argon2Exports {
  readonly memory: WebAssembly.Memory;
  Hash_GetBuffer(): number;
}

let isKept = false;

/**
 * Makes hash-wasm use one Argon2 instance for the whole isolate, so callers may compute only one hash at a time.
 * hash-wasm itself makes a new instance per hash, each of which leaves 19 MiB to the garbage collector.
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

/** Clears the memory blocks of Argon2, which are zero in a new instance: otherwise hashes come out wrong. */
function wipe({ memory, Hash_GetBuffer }: Argon2Exports): void {
  new Uint8Array(memory.buffer, Hash_GetBuffer()).fill(0);
}
