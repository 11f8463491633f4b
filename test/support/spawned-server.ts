import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { SecretScan } from "./secret-scan.js";

export interface SpawnedServer {
  readonly url: string;
  readonly process: ChildProcess;
  /** Its exit code; null where a signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Options of Node for a server that keeps idle connections: see patient-server.js. */
export const servePatiently = ["--import", new URL("patient-server.js", import.meta.url).href];

/** What the build of a checkout makes the command line of. */
export const builtCommand = "dist/svc/main.js";

/**
 * `svc serve` of the built server, in a process of its own, once it listens. Node loads `preload` before it, a module that
 * gets messages from the test. `command` is another checkout's, `options` are more of `svc serve`. Where `errors` is `scanned`, the end of the process
 * fails if it has written a secret to its log; where it is `pipe`, the test reads what is written.
 */
export async function spawnServer(
  directory: string,
  errors: "ignore" | "scanned" | "pipe" = "scanned",
  preload?: string,
  command = builtCommand,
  options: readonly string[] = [],
): Promise<SpawnedServer> {
  const nodeOptions = preload === undefined ? [] : ["--import", preload];
  const args = [...servePatiently, ...nodeOptions, command, "serve", "--dir", directory, "--port", "0", ...options];
  const server = spawn(process.execPath, args, {
    stdio: [
      "ignore",
      "pipe",
      errors === "ignore" ? "ignore" : "pipe",
      ...(preload === undefined ? [] : ["ipc" as const]),
    ],
  });
  const secrets = scanOf(directory);
  const found: string[] = [];
  if (errors === "scanned")
    createInterface(server.stderr!).on("line", (line) => {
      // The log transport of mails prints links, so that a developer can follow them.
      if (!line.startsWith("  http")) found.push(...secrets.found([line]));
    });
  const exited = new Promise<number | null>((resolve, fail) =>
    server.once("close", (code) => {
      if (found.length === 0) resolve(code);
      else fail(new Error(`secrets in the log: ${found.join("\n")}`));
    }),
  );
  const end = (signal: NodeJS.Signals) => {
    server.kill(signal);
    return exited;
  };
  for await (const line of createInterface(server.stdout!))
    return { url: line.replace("listening on ", ""), process: server, end };
  throw new Error("the server did not start");
}

/** Knows the secrets of the server in that directory; those that requests make have forms by which they are found. */
function scanOf(directory: string): SecretScan {
  const scan = new SecretScan();
  scan.keep(process.env.SVC_JWT_SECRET ?? "");
  const config = join(directory, "svc.toml");
  if (existsSync(config)) scan.keep(/^dev_secret = "(.*)"$/m.exec(readFileSync(config, "utf8"))?.[1] ?? "");
  return scan;
}
