/** Tells a person on standard error how far long work has come; says nothing where nobody looks. */
export interface Progress {
  at(bytes: number): void;
  end(): void;
}

const intervalMs = 100;

export function startProgress(label: string, bytesTotal: number): Progress {
  if (!process.stderr.isTTY) return { at: () => {}, end: () => {} };
  let last = { bytes: 0, atMs: Number.NEGATIVE_INFINITY };
  const print = (bytes: number) => {
    last = { bytes, atMs: performance.now() };
    process.stderr.write(`\r${progressLine(label, bytes, bytesTotal)}`);
  };
  print(0);
  return {
    at: (bytes) => {
      if (performance.now() - last.atMs >= intervalMs) print(bytes);
      else last = { ...last, bytes };
    },
    end: () => {
      print(last.bytes);
      process.stderr.write("\n");
    },
  };
}

/** Never shorter than the one before it, which it is written over. */
function progressLine(label: string, bytes: number, bytesTotal: number): string {
  const percent = bytesTotal === 0 ? 100 : Math.min(100, Math.floor((100 * bytes) / bytesTotal));
  return `${label}: ${(bytes / 1e6).toFixed(1).padStart(9)} MB ${String(percent).padStart(3)} %`;
}
