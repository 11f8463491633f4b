// One writer of test/faults/wal.test.ts: FILE ROLE SECONDS ROWS. It writes for so long, and until it has so many rows. Prints
// how many of them were acknowledged.
//   server   the connection of the server that holds the lock, which checkpoints after each commit
//   beside   a connection that never checkpoints, as that of a command or of a second server
//   foreign  another program that checkpoints in a loop, and writes nothing
import Libsql from "libsql";

const [file, role, seconds, rowsMin] = process.argv.slice(2);
const database = new Libsql(file);
// Nothing loses its power here, and without waiting for the disk the connections meet more often.
database.exec("PRAGMA busy_timeout=600000; PRAGMA synchronous=off");
database.exec(`PRAGMA wal_autocheckpoint=${role === "server" ? 1 : 0}`);
const insert = role === "foreign" ? null : database.prepare("INSERT INTO rows (writer, n) VALUES (?, ?)");
/** SQLITE_BUSY. */
const busy = 5;
const endsAt = Date.now() + Number(seconds) * 1000;
let acknowledged = 0;
while (Date.now() < endsAt || (insert !== null && acknowledged < Number(rowsMin)))
  if (insert === null) database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  else
    try {
      insert.run([`${role}-${process.pid}`, BigInt(acknowledged)]);
      acknowledged++;
    } catch (error) {
      // The others have kept it waiting for too long: nothing was acknowledged.
      if ((error.rawCode & 0xff) !== busy) throw error;
    }
console.log(acknowledged);
process.exit(0);
