/**
 * Shows ten times a second how many of `total` bytes are done, until `work` ends. Shows nothing if standard error is
 * not a terminal.
 */
export async function withProgress<T>(label: string, total: number, done: () => number, work: Promise<T>) {
  if (!process.stderr.isTTY) return work;
  const show = (end = "") => {
    const percent = Math.min(100, Math.floor((100 * done()) / Math.max(1, total)));
    // A fixed width, so that each output fully overwrites the one before.
    const amounts = `${(done() / 1e6).toFixed(1).padStart(9)} MB ${String(percent).padStart(3)} %`;
    process.stderr.write(`\r${label}: ${amounts}${end}`);
  };
  show();
  const timer = setInterval(show, 100);
  return work.finally(() => {
    clearInterval(timer);
    show("\n");
  });
}
