/**
 * The package's `dist` directory. It is found from the path of the running code, because the command line is bundled
 * into some file below `dist`.
 */
export const builtDirectory = import.meta.dirname.replace(/(?<=[\\/]dist)[\\/].*$/, "");
