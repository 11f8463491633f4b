import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, MailTransport } from "../../platform/platform.js";
import { makePrivateDirectory, privateFile } from "../private-files.js";
import { mimeMessage } from "./mime-message.js";

/** What the mail transport for development needs. */
export interface LogMailOptions {
  readonly directory: string;
  readonly clock: Clock;
  /** Prints a line to the console of the person who started the server. */
  readonly print: (text: string) => void;
}

/**
 * The transport of `mail.transport = "log"`, for development: writes each message to an .eml file, and prints its
 * recipient, its subject and its link, if any. Anyone who can read the file or the printed lines can follow the link.
 */
export function logMail({ directory, clock, print }: LogMailOptions): MailTransport {
  return {
    send: async (message) => {
      // Loaded with the first mail, to keep the server's start short.
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
