/**
 * A SET clause that blanks the newest entry of the log of changes when its row is erased or the history of its table
 * ends. The entry is not deleted: the next one would get the same number, and clients' checkpoints are compared by
 * number and witness (a random number).
 */
export const numberAlone = "tbl = '', pk = '', op = '', old = NULL";
