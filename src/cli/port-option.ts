import { portOf } from "../project/environment.js";
import { UsageError } from "./command.js";

/** The value of an option `--port`; null where it is not given. Throws UsageError for anything but a port. */
export function readPortOption(option: string | undefined): number | null {
  if (option === undefined) return null;
  const port = portOf(option);
  if (port === null) throw new UsageError(`the port is a number from 0 to 65535, not ${option}`);
  return port;
}
