import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { house, shown } from "./house.js";

/** `[--list] [DIR]`: DIR is another checkout; --list names each export without a docstring. */
const { values, positionals } = parseArgs({
  options: { list: { type: "boolean", default: false } },
  allowPositionals: true,
});
process.stdout.write(shown(await house(resolve(positionals[0] ?? "."), values.list)));
