// Loaded before a server: measures the longest stretch for which its serving thread computes, in milliseconds of CPU. A
// message asks for it, and begins a new measurement. The event loop never waits meanwhile, so that each of its turns is
// measured, and the CPU time of the thread is what the kernel counts.
import { openSync, readSync } from "node:fs";

const statistics = openSync("/proc/thread-self/schedstat");
const buffer = Buffer.alloc(64);

function cpuMs() {
  const length = readSync(statistics, buffer, 0, 64, 0);
  return Number(buffer.toString("latin1", 0, length).split(" ", 1)[0]) / 1e6;
}

let last = cpuMs();
let longestMs = 0;
let isMeasuring = false;

function turn() {
  const now = cpuMs();
  longestMs = Math.max(longestMs, now - last);
  last = now;
  if (isMeasuring) setImmediate(turn);
}

process.on("message", (message) => {
  if (message !== "begin" && message !== "end") return;
  if (message === "end") process.send?.({ longestMs });
  isMeasuring = message === "begin";
  longestMs = 0;
  last = cpuMs();
  if (isMeasuring) setImmediate(turn);
});
process.channel?.unref();
