import { join } from "node:path";
import { builtDirectory } from "../../node/built-directory.js";
import { readProject } from "../../node/project-directory.js";
import { serve } from "../../node/serve.js";
import { readPort } from "../../project/environment.js";
import type { Command } from "../command.js";
import { readPortOption } from "../port-option.js";

/** Runs the server until a signal ends it (`docs/reference/command-line.md#svc-serve`). */
const serveCommand: Command = {
  name: "serve",
  usage: "[--host H] [--port N]",
  summary:
    "Serves the project. Prints `listening on URL` to standard output and the URL of the console to standard error.",
  options: { host: { type: "string" }, port: { type: "string" } },
  help: [
    "--host H     the address to listen on (default: HOST, then server.host of svc.toml)",
    "--port N     the port to listen on; 0 picks a free one (default: PORT, then server.port)",
  ],
  positionals: [],
  run: async ({ directory, text, environment }) => {
    // First, so that no signal during the start is missed.
    const stopping = stopSignal();
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
    await stopping;
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
 * it counts as the same (`sameSignalMs`).
 */
function stopSignal(): Promise<void> {
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
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
  });
}

/** `svc serve` */
export const commands: readonly Command[] = [serveCommand];
