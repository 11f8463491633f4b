/**
 * The compiled WebAssembly modules of hash-wasm, by the SHA-256 of their binary in hexadecimal. extract.ts writes this
 * module during the build.
 */
export const modules: ReadonlyMap<string, WebAssembly.Module>;
