import { openForProject } from "../../auth/oauth/project-credentials.js";
import type { Log, Platform } from "../../platform/platform.js";
import { providerCredentials } from "../../platform/provider-credentials.js";
import { nodeCipher } from "../cipher.js";
import { createArgon2 } from "../passwords/argon2.js";
import { SchemaPlans } from "../plans/schema-plans.js";
import { openServerDatabase } from "../project-database.js";
import type { ProjectDirectory } from "../project-directory.js";
import { credentialFiles } from "../provider-credentials.js";
import type { FoundSurroundings } from "../surroundings.js";
import { deferTo, systemClock, systemFetch, systemRandom } from "../system.js";
import { type BroughtUp, bringUpSchema } from "./bring-up-schema.js";
import { openJournal } from "./open-journal.js";

/** What a server works with until it stops. */
export interface OpenedPlatform {
  readonly platform: Platform;
  readonly plans: SchemaPlans;
  readonly broughtUp: BroughtUp;
  /** Interrupts long reads and writes. */
  endLongWork(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the database, the journal and the threads of a project's server, and brings up its schema. Throws ProblemsError
 * if the project does not allow a start, and UnavailableError if the database cannot be opened.
 */
export async function openPlatform(
  project: ProjectDirectory,
  { secret, secretsKey, mail }: FoundSurroundings,
  environment: NodeJS.ProcessEnv,
  log: Log,
): Promise<OpenedPlatform> {
  const opened = await openServerDatabase(project, environment, log);
  const { database, commits } = opened;
  const passwordHasher = createArgon2();
  const plans = new SchemaPlans(project.config.api.key_deadline_ms);
  const closings = [() => opened.close(), () => passwordHasher.close()];
  const close = async () => {
    plans.close();
    for (const each of closings.toReversed()) await each();
  };
  try {
    const broughtUp = await bringUpSchema(project, database, log);
    if (secret.insecure) log.warn("the development secret is in use: anyone who reads svc.toml can sign in as anyone");
    const journal = await openJournal(project, database, log);
    // Also after a failed start: otherwise the next start would take the sequence numbers that were reserved and never
    // used for lost receipts.
    closings.push(() => journal.close());
    const platform: Platform = {
      database,
      journal,
      passwordHasher,
      commits,
      clock: systemClock,
      random: systemRandom,
      cipher: nodeCipher,
      log,
      mail,
      fetch: systemFetch,
      providerCredentials: providerCredentials(
        credentialFiles(project.directory).read,
        secretsKey && openForProject(database, secretsKey),
      ),
      defer: deferTo(log, systemClock),
      requestsVanish: false,
    };
    const endLongWork = async () => {
      plans.close();
      await opened.endLongWork();
    };
    return { platform, plans, broughtUp, endLongWork, close };
  } catch (error) {
    await close();
    throw error;
  }
}
