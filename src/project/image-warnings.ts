import type { Problem } from "../problems/problem.js";
import { schemaFile } from "./file-names.js";
import type { Schema } from "./model.js";

/**
 * Warnings of blob columns of tables that keep history, for a project that is served from D1. D1 bounds the image of a
 * row in the log of changes (`Database.imageBytesMax`). A blob takes twice its bytes there, so it reaches the bound
 * more easily than other values.
 */
export function imageWarnings({ tables }: Schema): Problem[] {
  return [...tables.values()]
    .filter(({ historyDays }) => historyDays !== null)
    .flatMap(({ name, columns }) =>
      [...columns.values()]
        .filter(({ type }) => type === "blob")
        .map((column) => ({
          file: schemaFile,
          path: `${name}.columns.${column.name}`,
          message:
            "on D1 the log of changes holds rows of up to 1.9 MB, in which a blob takes twice its bytes: a write that makes a larger one is 413; a table of its own, with history: none, can hold blobs",
        })),
    );
}
