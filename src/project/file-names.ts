// The names of the project's two files are in a module of their own, because a Worker needs the names and not the
// parser of svc.toml.

/** The name of the file of settings and rules, as messages about problems give it. */
export const configFile = "svc.toml";

/** The name of the file of tables and columns, as messages about problems give it. */
export const schemaFile = "svc.schema.yaml";
