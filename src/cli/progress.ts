/**
 * Waits for `work`, and shows on standard error, ten times a second, how many of `bytesTotal` bytes are done. Shows
 * nothing where standard error is not a terminal.
 */
export async function withProgress<T>(
  label: string,
  bytesTotal: number,
  bytesDone: () => number,
  work: Promise<T>,
): Promise<T> {
  if (!process.stderr.isTTY) return work;
  const show = () => {
    const bytes = bytesDone();
    const percent = bytesTotal === 0 ? 100 : Math.min(100, Math.floor((100 * bytes) / bytesTotal));
    // Padded, so that each line fully overwrites the one before.
    const amounts = `${(bytes / 1e6).toFixed(1).padStart(9)} MB ${String(percent).padStart(3)} %`;
    process.stderr.write(`\r${label}: ${amounts}`);
  };
  show();
  const timer = setInterval(show, 100);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    show();
    process.stderr.write("\n");
  }
}
