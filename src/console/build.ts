// A step of `npm run build`: bundles the console's page into dist/console.
import { join } from "node:path";
import { bundleConsole } from "./bundle.js";

const root = join(import.meta.dirname, "..", "..");
const { first, all } = await bundleConsole(join(root, "src", "console"), join(root, "dist", "console"));
const kilobytes = (bytes: number) => (bytes / 1024).toFixed(1);
console.log(`the console's page: ${kilobytes(first)} KB gzipped at first, ${kilobytes(all)} KB in all`);
