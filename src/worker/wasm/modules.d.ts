/**
 * The compiled WebAssembly modules of hash-wasm. The key of each is the SHA-256 of its binary in hexadecimal.
 * extract.ts writes this module during the build.
 */
export const modules: ReadonlyMap<string, WebAssembly.Module>;
