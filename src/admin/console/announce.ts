import { makeSetupLink } from "../../auth/links/setup-link.js";
import { hasAdmin } from "../../auth/store/setup.js";
import { UnavailableError } from "../../platform/database.js";
import type { Platform } from "../../platform/platform.js";
import { ask } from "../../platform/query.js";

/**
 * What `announceConsole` is given: the URL of the console (the web page for administrators), whether it may print the
 * setup link, and the function `note`, which prints a line.
 */
export interface Announced {
  /** The URL of the console's page. */
  readonly url: string;
  /**
   * Whether the setup link, which lets whoever has it make the first administrator, may be printed: a person reads the
   * output at a terminal, or nobody but this machine reaches the console.
   */
  readonly mayShowLink: boolean;
  readonly note: (message: string) => void;
}

/**
 * Prints, at the server's start, where the console (the web page for administrators) is. While there is no
 * administrator, also prints how to make the first one: a setup link, or where that must not be printed, a command to
 * type.
 */
export async function announceConsole(
  platform: Pick<Platform, "database" | "clock" | "random" | "log">,
  { url, mayShowLink, note }: Announced,
): Promise<void> {
  try {
    const link = mayShowLink ? await makeSetupLink(platform) : null;
    for (const line of consoleLines(url, link)) note(line);
    if (!mayShowLink && !(await ask(platform.database, hasAdmin()))) note(byCommand);
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    platform.log.warn(`whether there is an administrator is not known yet: ${error.message}`);
  }
}

/**
 * The lines to print: where the console is, and if `setupLink` is not null, the link by which to make the first
 * administrator.
 */
export function consoleLines(url: string, setupLink: string | null): readonly string[] {
  const place = `console: ${url}`;
  if (setupLink === null) return [place];
  return [place, `no administrator yet: this makes the first, once, within half an hour\n  ${url}${setupLink}`];
}

const byCommand =
  "no administrator yet: svc admin create-user --email you@example.com --role admin --password-stdin makes one";
