import type { Config } from "./config.js";

/** Unless the project has opted out, one way or the other (docs/reference/metering.md). */
export function isMetered({ usage }: Config): boolean {
  return usage.enabled && usage.row_metering_enabled;
}
