// Loaded by Node before a spawned server, which knows nothing of it. The message "begin" begins to count, "end" is answered
// with the figures since then.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const everyMs = 10;

// Threads of the server load it too.
if (isMainThread && process.send !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: everyMs });
  // What is measured is the whole time from one tick to the next.
  const lag = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - everyMs);
  const figures = () => ({
    lagP99Ms: lag(delays.percentile(99)),
    lagMaxMs: lag(delays.max),
    rssMaxMb: process.resourceUsage().maxRSS / 1024,
  });
  process.on("message", (message) => {
    if (message === "end") process.send(figures());
    else delays.reset();
  });
  // Nothing of this keeps the server from ending.
  process.channel.unref();
  delays.enable();
}
