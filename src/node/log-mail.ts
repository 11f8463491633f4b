import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, MailMessage, MailTransport } from "../platform/platform.js";
import { makePrivateDirectory, privateFile } from "./private-files.js";

export interface LogMailOptions {
  readonly directory: string;
  readonly clock: Clock;
}

/** `mail.transport = "log"`: one .eml file for each message, for development. They hold live links. */
export function logMail({ directory, clock }: LogMailOptions): MailTransport {
  return {
    send: async (message) => {
      // Loaded with the first mail: a start is not to wait for it.
      const { createTransport } = await import("nodemailer");
      const composer = createTransport({ streamTransport: true, buffer: true });
      const { message: source } = await composer.sendMail(withPlainRecipient(message));
      makePrivateDirectory(directory);
      const time = new Date(clock.now()).toISOString().replaceAll(":", "-");
      await writeFile(join(directory, `${time}-${randomUUID()}.eml`), source as Buffer, {
        mode: privateFile,
      });
    },
  };
}

/** An address as it stands: nodemailer would read a list of them out of a text. */
export function withPlainRecipient(message: MailMessage) {
  return { ...message, to: { name: "", address: message.to } };
}
