/** Something wrong with what the owner wrote. All of them are collected before anyone is told. */
export interface Problem {
  /** `svc.toml` or `svc.schema.yaml`. */
  readonly file: string;
  /** Where it is in the file, from 1. Absent until `withLines` has looked, and where the file does not have it. */
  readonly line?: number;
  /** `dottedPath` within the file, empty for the file as a whole. */
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
  return visible([place, shown(path, pathMax), message].filter((part) => part !== "").join(": "));
}

/** Two names of 63 characters, and what is between them. */
const pathMax = 200;

/** What the owner wrote, as a message quotes it: of a long text its beginning, and all of it in one line. */
export function shown(text: string, max = 100): string {
  return (text.length > max ? `${text.slice(0, max)}…` : text).replace(/\p{Cc}/gu, escaped);
}

/** No terminal obeys what a file holds. Line breaks and tabs stay: a caret is beneath its place by them. */
export function visible(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
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

  get problems(): readonly Problem[] {
    return this.#problems;
  }
}
