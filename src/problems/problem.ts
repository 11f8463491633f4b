/** A mistake in a file that the project's owner writes. All mistakes are collected before any is reported. */
export interface Problem {
  /** The file's name, such as `svc.toml`; `environment` for an environment variable. */
  readonly file: string;
  /** The line in the file, from 1. Absent before `withLines` has looked it up, and if the file has no such place. */
  readonly line?: number;
  /** The place in the file, as `dottedPath` writes it; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** Carries all problems of a project's files. The command line prints them and exits with 2. */
export class ProblemsError extends Error {
  override readonly name = "ProblemsError";
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(formatProblem).join("\n"));
  }
}

/** A problem as one message: `svc.toml:12: auth.cookie_secure: expected boolean, got "yes"` */
export function formatProblem({ file, line, path, message }: Problem): string {
  const place = line === undefined ? file : `${file}:${line}`;
  return visible([place, shown(path, pathMax), message].filter((part) => part !== "").join(": "));
}

/** How many characters of a path a message shows: two names of 63 characters and the steps between them fit. */
const pathMax = 200;

/**
 * A text of the project's owner, as a message quotes it: cut after `max` characters, with control characters escaped.
 */
export function shown(text: string, max = 100): string {
  return (text.length > max ? `${text.slice(0, max)}…` : text).replace(/\p{Cc}/gu, escaped);
}

/**
 * Escapes control characters, so that a file cannot send commands to the terminal. Line breaks and tabs stay for
 * `pointAt`.
 */
export function visible(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * Collects the problems of several functions that each read a part of the project's files, so that those of one do not
 * hide those of the others.
 */
export class ProblemCollector {
  readonly #problems: Problem[] = [];

  /** Returns null if `read` throws ProblemsError, and collects its problems. */
  read<T>(read: () => T): T | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ProblemsError)) throw error;
      this.#problems.push(...error.problems);
      return null;
    }
  }

  add(problem: Problem): void {
    this.#problems.push(problem);
  }

  /** Throws ProblemsError if problems were collected. */
  end(): void {
    if (this.#problems.length > 0) throw new ProblemsError(this.#problems);
  }

  get problems(): readonly Problem[] {
    return this.#problems;
  }
}
