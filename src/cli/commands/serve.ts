import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { builtDirectory } from "../../node/built-directory.js";
import { readProject } from "../../node/project-directory.js";
import { serve } from "../../node/server/serve.js";
import { watchFiles } from "../../node/server/watch-files.js";
import { readPort } from "../../project/environment.js";
import { configFile, schemaFile } from "../../project/file-names.js";
import type { Command } from "../command.js";
import { readPortOption } from "../port-option.js";
import { reloadReport } from "../reload-report.js";

/** Runs the server until a signal ends it (`docs/reference/command-line.md#svc-serve`). */
const serveCommand: Command = {
  name: "serve",
  usage: "[--host H] [--port N] [--watch]",
  summary:
    "Serves the project. Prints `listening on URL` to standard output and the URL of the console to standard error.",
  options: { host: { type: "string" }, port: { type: "string" }, watch: { type: "boolean" } },
  help: [
    "--host H     the address to listen on (default: HOST, then server.host of svc.toml)",
    "--port N     the port to listen on; 0 picks a free one (default: PORT, then server.port)",
    "--watch      takes svc.toml and svc.schema.yaml over whenever they change",
    "SIGHUP takes them over once. What has problems is not taken over, and the server goes on as it was.",
  ],
  positionals: [],
  run: async ({ directory, text, flag, environment }) => {
    // First, so that no signal during the start is missed.
    let reload = () => {};
    const stopping = stopSignal(() => reload());
    const project = readProject(directory);
    const { server } = project.config;
    const running = await serve(project, {
      host: text("host") ?? (environment.HOST || server.host),
      port: readPortOption(text("port")) ?? readPort(environment) ?? server.port,
      environment,
      consoleDirectory: join(builtDirectory, "console"),
    });
    console.log(`listening on ${running.url}`);
    await running.announce();
    reload = () => void running.reload().then((outcome) => console.error(reloadReport(outcome)), reportFailure);
    const endWatch = flag("watch") ? watchFiles(project.directory, [configFile, schemaFile], reload) : () => {};
    await stopping;
    endWatch();
    reload = () => {};
    await running.stop();
    return 0;
  },
};

/**
 * For how long after the first signal to stop a further one counts as the same. If npm has started the server, Ctrl-C
 * reaches it twice: from the terminal, and from npm, which passes it on.
 */
const sameSignalMs = 1_000;

/**
 * Resolves at the first signal to stop, or when the terminal closes. A second signal ends the process at once, unless
 * it counts as the same (`sameSignalMs`). Calls `hungUp` at each SIGHUP that does not come from a terminal's end.
 */
function stopSignal(hungUp: () => void): Promise<void> {
  const signals = ["SIGTERM", "SIGINT"] as const;
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    const stop = (signal: NodeJS.Signals) => {
      const nowMs = performance.now();
      firstMs ??= nowMs;
      resolve();
      if (nowMs - firstMs < sameSignalMs) return;
      for (const each of signals) process.off(each, stop);
      process.kill(process.pid, signal);
    };
    for (const signal of signals) process.on(signal, stop);
    const hadTerminal = hasTerminal();
    process.on("SIGHUP", () => {
      if (hadTerminal && !hasTerminal()) stop("SIGTERM");
      else hungUp();
    });
  });
}

/** Whether the process has a terminal. When the terminal closes, the process gets SIGHUP and has none any more. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

function reportFailure(error: unknown): void {
  console.error("the files cannot be taken over:", error);
}

/** `svc serve` */
export const commands: readonly Command[] = [serveCommand];
