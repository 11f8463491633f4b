import { readProject } from "../../node/project-directory.js";
import type { Command } from "../command.js";

/** `svc check`: both files and all rules, every problem at once. */
export const check: Command = {
  name: "check",
  usage: "",
  summary: "Reads svc.toml, svc.schema.yaml and all rules, and prints every problem.",
  options: {},
  help: [],
  positionals: [],
  run: async ({ directory }) => {
    readProject(directory);
    console.log("no problems");
    return 0;
  },
};
