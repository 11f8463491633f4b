/**
 * What is set in the newest entry of all where it may not stay an entry of its table: its number stays, with its witness,
 * because the next entry would have the number again otherwise, and checkpoints are compared by both.
 */
export const numberAlone = "tbl = '', pk = '', op = '', old = NULL";
