// `npm run test:slow`: the suite beside an endless loop for each core, which take about half of each. The reporter of the run
// prints what it took of the processor and by the clock. `-- FILE` runs one file after `npm run build:worker`.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";

const [command, ...args] = process.argv.slice(2);
// A loop ends with its standard input, so with this process, however that ends.
const endless = `new (require("worker_threads").Worker)("for(;;);", { eval: true });
  process.stdin.resume().on("end", () => process.exit());`;
const loops = Array.from({ length: availableParallelism() }, () =>
  spawn(process.execPath, ["-e", endless], { stdio: ["pipe", "ignore", "inherit"] }),
);
const run = spawn(command, args, { stdio: "inherit" });
run.once("close", (code) => {
  for (const loop of loops) loop.stdin.end();
  process.exitCode = code ?? 1;
});
