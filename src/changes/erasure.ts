/**
 * A SET clause that blanks the newest entry of the log of changes. It is used instead of deleting that entry, where its
 * row is erased or the history of its table ends. Its number stays, because the next entry would get the same number
 * otherwise, and so does its witness (a random number): clients' checkpoints are compared by both.
 */
export const numberAlone = "tbl = '', pk = '', op = '', old = NULL";
