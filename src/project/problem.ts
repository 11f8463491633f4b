/** Something wrong with what the owner wrote. All of them are collected before anyone is told. */
export interface Problem {
  /** `svc.toml` or `svc.schema.yaml`. */
  readonly file: string;
  /** Where it is in the file, from 1. Absent until `withLines` has looked, and where the file does not have it. */
  readonly line?: number;
  /** Dotted path within the file, empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** Carries every problem at once. The command line prints them and exits with 2. */
export class ProblemsError extends Error {
  override readonly name = "ProblemsError";
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(formatProblem).join("\n"));
  }
}

/** `svc.toml:12: auth.cookie_secure: expected boolean, got "yes"` */
export function formatProblem({ file, line, path, message }: Problem): string {
  const place = line === undefined ? file : `${file}:${line}`;
  return [place, path, message].filter((part) => part !== "").join(": ");
}

/** Collects the problems of several readers, so that one's do not hide another's. */
export class ProblemCollector {
  readonly #problems: Problem[] = [];

  /** What `read` gives, or null where it threw ProblemsError. */
  read<T>(read: () => T): T | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ProblemsError)) throw error;
      this.#problems.push(...error.problems);
      return null;
    }
  }

  /** Throws ProblemsError with all of them, where there were any. */
  end(): void {
    if (this.#problems.length > 0) throw new ProblemsError(this.#problems);
  }
}
