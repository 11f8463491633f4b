import { resolve } from "node:path";
import { isLoopbackHost } from "../../http/loopback.js";
import type { Clock, MailTransport, Platform } from "../../platform/platform.js";
import { ProblemsError } from "../../problems/problem.js";
import type { Config } from "../../project/config.js";
import { configFile } from "../../project/file-names.js";
import { httpMail } from "../../remote/http-mail.js";
import { logMail } from "./log-mail.js";
import { smtpMail } from "./smtp.js";

/** What mail transports need from the runtime. */
export interface MailSurroundings {
  /** Paths in svc.toml are relative to this directory. */
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly fetch: Platform["fetch"];
  /** Prints a line to the console of the person who started the server. */
  readonly print: (text: string) => void;
}

/**
 * Makes the transport that `mail.transport` names (`docs/reference/configuration.md#mail`). Throws ProblemsError if an
 * environment variable that it needs is missing, or should hold the URL of an SMTP server and does not.
 */
export function mailTransport({ mail }: Config, surroundings: MailSurroundings): MailTransport {
  const { directory, environment, clock, fetch, print } = surroundings;
  const variable = (key: "smtp_url_env" | "http_token_env"): string => {
    const value = environment[mail[key]];
    if (value) return value;
    throw problem(
      `mail.${key}`,
      `the environment variable ${mail[key]} is not set: it holds ${held[key]}, which mail.transport = "${mail.transport}" needs`,
    );
  };
  switch (mail.transport) {
    case "log":
      return logMail({ directory: resolve(directory, mail.log_dir), clock, print });
    case "smtp": {
      const url = variable("smtp_url_env");
      if (!/^smtps?:\/\/./.test(url) || !URL.canParse(url))
        throw problem(
          "mail.smtp_url_env",
          `${mail.smtp_url_env} is no smtp:// or smtps:// URL such as smtps://user:password@mail.example.com`,
        );
      return smtpMail({ url, requireTLS: mustEncrypt(url) });
    }
    case "http":
      return httpMail({ url: mail.http_url, token: variable("http_token_env"), fetch });
  }
}

const held = { smtp_url_env: "the SMTP server's URL", http_token_env: "the mail service's token" } as const;

/**
 * If a password is sent to another host, a delivery without TLS must fail: otherwise somebody in between could hide
 * that the server offers TLS, and read the password.
 */
function mustEncrypt(url: string): boolean {
  const { username, hostname } = new URL(url);
  return username !== "" && !isLoopbackHost(hostname);
}

function problem(path: string, message: string): ProblemsError {
  return new ProblemsError([{ file: configFile, path, message }]);
}
