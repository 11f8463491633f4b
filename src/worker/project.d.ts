import type { Config } from "../project/config.js";

/** The parsed svc.toml. `svc worker build` writes the module project.js. */
export const config: Config;
/** The project's svc.schema.yaml. */
export const schemaText: string;
