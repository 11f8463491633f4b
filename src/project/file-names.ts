// These names are in a module of their own, because a Worker needs them and not the parser of svc.toml.

/** The file of settings and rules. */
export const configFile = "svc.toml";

/** The file of tables and columns. */
export const schemaFile = "svc.schema.yaml";
