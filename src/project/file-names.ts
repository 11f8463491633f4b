// Apart from the readers of the two files: a Worker does without that of TOML.

/** The file of settings and rules, as problems name it. */
export const configFile = "svc.toml";

/** The file of tables and columns, as problems name it. */
export const schemaFile = "svc.schema.yaml";
