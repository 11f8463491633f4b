import type { Config } from "../project/config.js";

/**
 * The parsed svc.toml of the project that this Worker serves. `svc worker build` writes the module project.js, in which
 * it is.
 */
export const config: Config;
/** The text of the project's svc.schema.yaml. */
export const schemaText: string;
