import type { Config } from "../project/config.js";

/** The project that this Worker serves. Written by `svc worker build`. */
export const config: Config;
/** svc.schema.yaml */
export const schemaText: string;
