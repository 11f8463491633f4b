import type { Statement } from "./database.js";
import { Memo, statementLengthMax } from "./memo.js";

/** How many bytes the cached SQL may take that is joined with one statement. */
const joinedBytesMax = 2_097_152;

/**
 * Makes a function that joins two SELECTs into one statement, because a further statement costs as much as looking up a
 * row. The first returns one row; its columns come first. The second is marked as `single`; where it returns no row, its
 * columns are NULL. The SQL is cached by that of the first statement, of which there may be few, then by that of the second.
 */
export function joinedSingles(): (first: Statement, single: Statement) => Statement {
  const texts = new Memo<Memo<string>>(16_384);
  return (first, single) => {
    const ofFirst = texts.get(
      first.sql,
      () => new Memo<string>(joinedBytesMax, { keyLengthMax: statementLengthMax }),
    );
    const sql = ofFirst.get(single.sql, () => `SELECT * FROM (${first.sql}) LEFT JOIN (${single.sql}) ON 1`);
    return { sql, params: [...first.params, ...single.params], single: true };
  };
}
