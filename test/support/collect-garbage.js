// Loaded by Node before a spawned server, which knows nothing of it. Any message is answered once garbage has been collected,
// so that what the process holds afterwards is what it needs.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

// Threads of the server load it too.
if (isMainThread && process.send !== undefined) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  process.on("message", () => {
    // Twice: what has a finaliser goes with the second.
    collect();
    collect();
    process.send(process.memoryUsage());
  });
  // Nothing of this keeps the server from ending.
  process.channel.unref();
}
