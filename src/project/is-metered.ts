import type { Config } from "./config.js";

/** Whether requests are metered (docs/reference/metering.md). */
export function isMetered({ usage }: Config): boolean {
  return usage.enabled && usage.row_metering_enabled;
}
