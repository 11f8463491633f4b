import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/** Seconds that `npm test` may take, on two cores. */
const budget = 480;

const slowestCount = 10;

/** Where `npm run house` finds how long the last run took. */
const record = "dist/test-time.json";

/**
 * A reporter of vitest: prints the slowest test files and the time of the whole run, from the start of the process on, and
 * fails a run above the budget.
 */
export default class TimeBudget implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const seconds = Math.round(process.uptime());
    const slowest = modules
      .map((module) => ({ module, seconds: secondsOf(module) }))
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, slowestCount)
      .map(({ module, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${nameOf(module)}`);
    const total = `${seconds} s of ${budget} s, ${modules.length} test files`;
    process.stdout.write(`\nSlowest test files\n${slowest.join("\n")}\n\nAll of the run: ${total}\n\n`);
    mkdirSync(dirname(record), { recursive: true });
    writeFileSync(record, JSON.stringify({ seconds, budget, files: modules.length }));
    if (seconds <= budget) return;
    process.stderr.write(`The run took longer than its budget of ${budget} s.\n`);
    process.exitCode = 1;
  }
}

/** With what its imports and its environment took. */
function secondsOf(module: TestModule): number {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } =
    module.diagnostic();
  return (environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration) / 1000;
}

function nameOf({ project, moduleId }: TestModule): string {
  return `${project.name}  ${relative(process.cwd(), moduleId)}`;
}
