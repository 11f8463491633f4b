/** What hash-wasm asks to be compiled: modules by the SHA-256 of their binaries, in hex. Written by the build. */
export const modules: ReadonlyMap<string, WebAssembly.Module>;
