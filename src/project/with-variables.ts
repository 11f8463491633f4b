import { dottedPath } from "../problems/dotted-path.js";
import { shown } from "../problems/problem.js";
import type { Environment } from "./environment.js";
import { isPlainObject } from "./valibot-problems.js";

/** A text of svc.toml that cannot be completed from the environment. */
export interface VariableProblem {
  /** As `dottedPath` writes it. */
  readonly path: string;
  readonly message: string;
}

/** A text as it is written in svc.toml, and with the values of its variables. */
export interface CompletedText {
  readonly text: string;
  readonly completed: string;
}

/** What `withVariables` makes of a file. */
export interface Completed {
  readonly raw: Record<string, unknown>;
  readonly problems: readonly VariableProblem[];
  readonly texts: readonly CompletedText[];
}

/** Their texts are expressions, in which `${` means nothing. */
const sectionsWithout: ReadonlySet<string> = new Set(["rules", "conditions"]);

const variable = /\$\{(?:([A-Za-z_]\w*)(?::-([^}]*))?\}|[^}]*\}?)/g;

/**
 * Replaces `${NAME}` and `${NAME:-default}` in the texts of a parsed svc.toml by environment variables, once: what a
 * variable holds is not looked through again. The default holds where the variable is unset or empty
 * (`docs/reference/configuration.md#values-from-the-environment`). `problems` names every text that cannot be completed.
 */
export function withVariables(raw: Readonly<Record<string, unknown>>, environment: Environment): Completed {
  const problems: VariableProblem[] = [];
  const texts: CompletedText[] = [];
  const complete = (value: unknown, steps: readonly string[]): unknown => {
    if (typeof value === "string") return completeText(value, steps);
    if (Array.isArray(value)) return value.map((item, i) => complete(item, [...steps, String(i)]));
    if (!isPlainObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, complete(of, [...steps, key])]));
  };
  const completeText = (text: string, steps: readonly string[]): string => {
    const completed = text.replace(variable, (written, name: string | undefined, otherwise: string | undefined) => {
      const value = name !== undefined && Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (otherwise !== undefined) return value || otherwise;
      if (value !== undefined) return value;
      const message =
        name === undefined
          ? `expected \${NAME} or \${NAME:-default}, got ${written}`
          : `the environment variable ${name} is not set`;
      problems.push({ path: dottedPath(steps), message });
      return written;
    });
    if (completed !== text) texts.push({ text, completed });
    return completed;
  };
  const entries = Object.entries(raw).map(([key, value]): [string, unknown] => [
    key,
    sectionsWithout.has(key) ? value : complete(value, [key]),
  ]);
  return { raw: Object.fromEntries(entries), problems, texts };
}

/**
 * A message without what variables hold, which may be secrets: where it quotes a completed text, it quotes the text as it
 * is written.
 */
export function asWritten(message: string, texts: readonly CompletedText[]): string {
  return texts.reduce((said, { text, completed }) => {
    const quoted = said.replaceAll(JSON.stringify(completed), JSON.stringify(text));
    return completed.length < shortSecret
      ? quoted
      : quoted.replaceAll(completed, text).replaceAll(cut(completed), text);
  }, message);
}

/** A shorter text may stand in a message by chance. */
const shortSecret = 6;
/** As messages quote a long text. */
const cut = (text: string) => shown(text);
