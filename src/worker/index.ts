/**
 * What a Worker imports: the script that `svc worker build` writes, and Workers that serve HTTP themselves. The build
 * bundles this module (`docs/deploy.md#cloudflare-workers`).
 */
export { createSvc, SvcError, SvcPreconditionError } from "./create-svc.js";
export { createWorker } from "./worker.js";
