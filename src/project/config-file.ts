/** The file's name in problems. Apart from config.ts, whose reader of TOML a Worker does without. */
export const configFile = "svc.toml";
