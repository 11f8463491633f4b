/**
 * The WebAssembly modules that hash-wasm compiles, by the SHA-256 of their binaries in hexadecimal. Written by
 * extract.ts during the build.
 */
export const modules: ReadonlyMap<string, WebAssembly.Module>;
