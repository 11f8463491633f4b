#!/usr/bin/env node
// What is run as `svc`: the bundle of the command line, which lies beside this file once it is built.
import { join } from "node:path";
import { loadModule } from "./code-cache.js";
import type { main } from "./main.js";

const { exports } = loadModule<{ main: typeof main }>(join(import.meta.dirname, "svc.cjs"));
process.exitCode = await exports.main(process.argv.slice(2));
