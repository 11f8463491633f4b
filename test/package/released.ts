import { resolve } from "node:path";
import { release } from "../../src/platform/release.js";

/** The tarballs that `npm run pack` has made. */
export const tarballs = {
  server: resolve(`release/svc-server-${release}.tgz`),
  client: resolve(`release/svc-client-${release}.tgz`),
};

/** The single executable that `npm run build:binary` has made. */
export const executable = resolve(`release/svc-${release}-${process.platform}-${process.arch}`);
