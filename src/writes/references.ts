import { abortText } from "../platform/abort.js";
import type { WriteExecution } from "../tables/execution/execution.js";
import { clearStaged, stageColumn } from "../tables/sql/kept-answers.js";
import { type Beside, nothingBeside } from "../tables/together/together.js";
import { type AskedWrite, referenceName } from "./asked-write.js";

/**
 * Makes the statements beside the writes of a request that put aside the values to which later writes refer, in the
 * table `_staged`, for as long as the transaction lasts.
 */
export function keptReferences(
  writes: readonly AskedWrite[],
  { values }: Pick<WriteExecution, "values">,
): Beside {
  const wanted = new Map(
    writes.flatMap(({ references }, by) =>
      references.map((reference) => [referenceName(reference), { reference, by }] as const),
    ),
  );
  if (wanted.size === 0) return nothingBeside;
  return {
    before: () => [],
    around: (index, nonce) => {
      const { write } = writes[index]!;
      const kept = [...wanted].flatMap(([as, { reference, by }]) =>
        reference.at === index
          ? stageColumn(
              write.statement.answer!,
              { name: reference.column.name, isKey: reference.isKey },
              as,
              [values, ...write.values],
              abortText(nonce, `${by}:unreferred`),
            )
          : [],
      );
      return write.kind === "delete" ? { before: kept, after: [] } : { before: [], after: kept };
    },
    last: () => [clearStaged],
  };
}
