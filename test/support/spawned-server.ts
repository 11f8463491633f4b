import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface SpawnedServer {
  readonly url: string;
  /** Its exit code; null where a signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** `svc serve` of the built server, in a process of its own, once it listens. */
export async function spawnServer(
  directory: string,
  errors: "ignore" | "inherit" = "ignore",
): Promise<SpawnedServer> {
  const server = spawn(process.execPath, ["dist/svc/main.js", "serve", "--dir", directory, "--port", "0"], {
    stdio: ["ignore", "pipe", errors],
  });
  const exited = new Promise<number | null>((resolve) => server.once("exit", resolve));
  const end = (signal: NodeJS.Signals) => {
    server.kill(signal);
    return exited;
  };
  for await (const line of createInterface(server.stdout))
    return { url: line.replace("listening on ", ""), end };
  throw new Error("the server did not start");
}
