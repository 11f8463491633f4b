import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import type { Clock, MailTransport } from "../platform/platform.js";

export interface LogMailOptions {
  readonly directory: string;
  readonly clock: Clock;
}

/** `mail.transport = "log"`: one .eml file for each message, for development. */
export function logMail({ directory, clock }: LogMailOptions): MailTransport {
  const composer = createTransport({ streamTransport: true, buffer: true });
  return {
    send: async (message) => {
      const { message: source } = await composer.sendMail(message);
      await mkdir(directory, { recursive: true });
      const time = new Date(clock.now()).toISOString().replaceAll(":", "-");
      await writeFile(join(directory, `${time}-${randomUUID()}.eml`), source as Buffer);
    },
  };
}
