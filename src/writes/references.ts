import { abortText } from "../platform/abort.js";
import type { WriteExecution } from "../tables/execution/execution.js";
import { clearStaged, stageColumn } from "../tables/sql/kept-answers.js";
import { noServerStatements, type ServerStatements } from "../tables/together/together.js";
import { type RequestedWrite, referenceName } from "./requested-write.js";

/**
 * Puts aside the values to which later writes of the request refer, in the table `_staged`, until the transaction ends.
 */
export function keptReferences(
  writes: readonly RequestedWrite[],
  { values }: Pick<WriteExecution, "values">,
): ServerStatements {
  const wanted = new Map(
    writes.flatMap(({ references }, by) =>
      references.map((reference) => [referenceName(reference), { reference, by }] as const),
    ),
  );
  if (wanted.size === 0) return noServerStatements;
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
