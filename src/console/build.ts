// A step of `npm run build`: makes the console's page in dist/console.
import { join } from "node:path";
import { bundleConsole } from "./bundle.js";

const root = join(import.meta.dirname, "..", "..");
const { first, all } = await bundleConsole(join(root, "src", "console"), join(root, "dist", "console"));
const kilobytes = (bytes: number) => (bytes / 1024).toFixed(1);
console.log(`the console's page: ${kilobytes(first)} KB gzipped at first, ${kilobytes(all)} KB in all`);
