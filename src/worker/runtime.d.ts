/** What the Worker imports from workerd. */
declare module "cloudflare:workers" {
  /** Keeps the current event (such as a request) alive until `work` has settled, even after the response was sent. */
  export function waitUntil(work: Promise<unknown>): void;
}

/**
 * The part of the WebAssembly JavaScript Interface (W3C) that the Worker uses: TypeScript's own declarations come only
 * together with those of browsers.
 */
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
