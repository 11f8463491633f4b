/** The package's `dist` directory. The command line is bundled into some file below it. */
export const builtDirectory = import.meta.dirname.replace(/(?<=[\\/]dist)[\\/].*$/, "");
