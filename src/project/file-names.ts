// A file of its own, because a Worker needs these names and not the parser of svc.toml.

/** The name of the file of settings and rules, as problems give it. */
export const configFile = "svc.toml";

/** The name of the file of tables and columns, as problems give it. */
export const schemaFile = "svc.schema.yaml";
