import type { Config } from "../project/config.js";

/** The svc.toml of the project that this Worker serves, parsed. `svc worker build` writes this module. */
export const config: Config;
/** The text of svc.schema.yaml. */
export const schemaText: string;
