/**
 * The SET clause for the newest entry of the log where it may no longer be an entry of its table. Its number and its
 * witness (a random number) stay: the next entry would have the number again otherwise, and clients' checkpoints are
 * compared by both.
 */
export const numberAlone = "tbl = '', pk = '', op = '', old = NULL";
