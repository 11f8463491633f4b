import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, MailTransport } from "../platform/platform.js";
import { mimeMessage } from "./mime-message.js";
import { makePrivateDirectory, privateFile } from "./private-files.js";

export interface LogMailOptions {
  readonly directory: string;
  readonly clock: Clock;
  /** To the console of whoever has started the server. */
  readonly print: (text: string) => void;
}

/**
 * `mail.transport = "log"`: one .eml file for each message, whose link is printed beside, for development. Whoever reads
 * either can follow it.
 */
export function logMail({ directory, clock, print }: LogMailOptions): MailTransport {
  return {
    send: async (message) => {
      // Loaded with the first mail: a start is not to wait for it.
      const { createTransport } = await import("nodemailer");
      const composer = createTransport({ streamTransport: true, buffer: true });
      const { message: source } = await composer.sendMail(mimeMessage(message, { eightBit: true }));
      makePrivateDirectory(directory);
      const time = new Date(clock.now()).toISOString().replaceAll(":", "-");
      await writeFile(join(directory, `${time}-${randomUUID()}.eml`), source as Buffer, {
        mode: privateFile,
      });
      const { to, subject, link } = message;
      print(`mail to ${to}: ${subject}${link === null ? "" : `\n  ${link}`}`);
    },
  };
}
