import type { Problem } from "../problems/problem.js";
import { schemaFile } from "./file-names.js";
import type { Schema } from "./model.js";

/**
 * Warnings of blob columns of tables that keep history, for a project that is served from D1. There the image of a row,
 * the JSON that the log of changes holds of it, is bounded (`Database.imageBytesMax`). Other values reach the bound
 * less easily: only a blob takes twice its size.
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
