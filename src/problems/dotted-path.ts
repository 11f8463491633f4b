/**
 * Joins the keys that lead to a place in a file with dots. A key that is empty or contains a dot, a quote or a control
 * character is quoted as in TOML: `rules."a.b".read`.
 */
export function dottedPath(steps: readonly string[]): string {
  return steps.map((step) => (/^$|[."\p{Cc}]/u.test(step) ? JSON.stringify(step) : step)).join(".");
}

/** Splits a path that `dottedPath` made into its steps. */
export function stepsOf(path: string): readonly string[] {
  const steps: string[] = [];
  for (let at = 0; at < path.length; ) {
    const isQuoted = path[at] === '"';
    const end = isQuoted ? quotedEnd(path, at) : dotFrom(path, at);
    const step = path.slice(at, end);
    steps.push(isQuoted ? (JSON.parse(step) as string) : step);
    at = end + 1;
  }
  return steps;
}

function quotedEnd(path: string, from: number): number {
  let at = from + 1;
  while (path[at] !== '"' && at < path.length) at += path[at] === "\\" ? 2 : 1;
  return at + 1;
}

function dotFrom(path: string, from: number): number {
  const at = path.indexOf(".", from);
  return at === -1 ? path.length : at;
}
