import type { Config } from "./config.js";

/**
 * Whether requests are metered (docs/reference/metering.md). They are not if one of `usage.enabled` and
 * `usage.row_metering_enabled` is false.
 */
export function isMetered({ usage }: Config): boolean {
  return usage.enabled && usage.row_metering_enabled;
}
