/** The runtime's own module. */
declare module "cloudflare:workers" {
  /** Lets the work of the current event go on after its answer. */
  export function waitUntil(work: Promise<unknown>): void;
}

/** What is used of the WebAssembly JavaScript Interface (W3C), which TypeScript declares with browsers alone. */
declare namespace WebAssembly {
  type Module = object;
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
  interface Instance {
    readonly exports: object;
  }
  var Module: { exports(module: Module): { readonly name: string }[] };
  function compile(binary: ArrayBuffer): Promise<Module>;
  function instantiate(module: Module, imports: object): Promise<Instance>;
}
