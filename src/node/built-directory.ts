/**
 * The package's `dist` directory, found from the path of the running code, which is bundled into some file below it.
 */
export const builtDirectory = import.meta.dirname.replace(/(?<=[\\/]dist)[\\/].*$/, "");
