import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { cpuSeconds } from "./cpu-time.js";

/** Seconds of the processor that `npm test` should not exceed. */
const budget = 700;

const slowestCount = 10;

/** Where `npm run house` finds how long the last run took. */
const record = "dist/test-time.json";

/**
 * A reporter of vitest: prints the slowest test files, and what the whole run took of the processor and by the clock, from
 * the start of the process on. It fails no run.
 */
export default class TimeBudget implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const seconds = Math.round(process.uptime());
    const counted = cpuSeconds();
    const cpu = counted === null ? null : Math.round(counted);
    const slowest = modules
      .map((module) => ({ module, seconds: secondsOf(module) }))
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, slowestCount)
      .map((one) => `${one.seconds.toFixed(1).padStart(6)} s  ${nameOf(one.module)}`);
    const ofProcessor = cpu === null ? "not counted" : `${cpu} s of a budget of ${budget} s`;
    process.stdout.write(`
Slowest test files
${slowest.join("\n")}

Processor: ${ofProcessor}
Clock:     ${seconds} s, ${modules.length} test files

`);
    mkdirSync(dirname(record), { recursive: true });
    writeFileSync(record, JSON.stringify({ cpuSeconds: cpu, budget, seconds, files: modules.length }));
  }
}

/** With what its imports and its environment took. */
function secondsOf(module: TestModule): number {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  return (environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration) / 1000;
}

function nameOf({ project, moduleId }: TestModule): string {
  return `${project.name}  ${relative(process.cwd(), moduleId)}`;
}
