import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { readProject } from "../../node/project-directory.js";
import { readPort } from "../../project/environment.js";
import { listenUrl, namedHost } from "../../project/listen-url.js";
import type { Command, Invocation } from "../command.js";

/** How long the server may take to answer. */
const withinMs = 10_000;

/** By the project's own address: on this machine, a certificate proves nothing, and is not for this name. */
type Trust = "any certificate" | "valid certificates";

/** Asks a running server whether it serves, for a container's health check (`docs/deploy.md#containers`). */
const health: Command = {
  name: "health",
  usage: "[--url URL]",
  summary: "Asks the server of the project for /health: exit code 0 if it answers with 200 within 10 seconds, else 1.",
  options: { url: { type: "string" } },
  help: ["--url URL    the server, such as http://127.0.0.1:8860 (default: by HOST, PORT and svc.toml)"],
  positionals: [],
  run: async (invocation) => {
    const given = invocation.text("url");
    const url = `${(given ?? projectUrl(invocation)).replace(/\/$/, "")}/health`;
    const said = await answerOf(url, given === undefined ? "any certificate" : "valid certificates");
    if (said === "200") return 0;
    console.error(`svc health: ${url}: ${said}`);
    return 1;
  },
};

/** Where `svc serve` listens with the same environment, as seen from this machine. */
function projectUrl({ directory, environment }: Invocation): string {
  const { server, auth } = readProject(directory).config;
  const { name } = namedHost(environment.HOST || server.host, auth.cookie_mode);
  const host = ["0.0.0.0", "::"].includes(name) ? "127.0.0.1" : name;
  return listenUrl(host, readPort(environment) ?? server.port, server.tls_cert !== "");
}

/** The status of the answer, or why there is none. */
async function answerOf(url: string, trust: Trust): Promise<string> {
  const signal = AbortSignal.timeout(withinMs);
  try {
    if (trust === "any certificate" && url.startsWith("https:")) return await statusOf(url, signal);
    const response = await fetch(url, { signal, redirect: "manual" });
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: unknown };
    return cause instanceof Error && cause.message !== "" ? cause.message : message;
  }
}

async function statusOf(url: string, signal: AbortSignal): Promise<string> {
  const asked = get(url, { signal, rejectUnauthorized: false });
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();
  return String(response.statusCode);
}

/** `svc health` */
export const commands: readonly Command[] = [health];
