import { dottedPath } from "../problems/dotted-path.js";
import type { Environment } from "./environment.js";
import { isPlainObject } from "./valibot-problems.js";

/** A text of svc.toml that cannot be completed from the environment. */
export interface VariableProblem {
  /** As `dottedPath` writes it. */
  readonly path: string;
  readonly message: string;
}

/** Their texts are expressions, in which `${` means nothing. */
const sectionsWithout: ReadonlySet<string> = new Set(["rules", "conditions"]);

const variable = /\$\{(?:([A-Za-z_]\w*)(?::-([^}]*))?\}|[^}]*\}?)/g;

/**
 * Replaces `${NAME}` and `${NAME:-default}` in the texts of a parsed svc.toml by environment variables, once: what a
 * variable holds is not looked through again. The default holds where the variable is unset or empty
 * (`docs/reference/configuration.md#values-from-the-environment`). `problems` names every text that cannot be completed.
 */
export function withVariables(
  raw: Readonly<Record<string, unknown>>,
  environment: Environment,
): { readonly raw: Record<string, unknown>; readonly problems: readonly VariableProblem[] } {
  const problems: VariableProblem[] = [];
  const complete = (value: unknown, steps: readonly string[]): unknown => {
    if (typeof value === "string") return completeText(value, steps);
    if (Array.isArray(value)) return value.map((item, i) => complete(item, [...steps, String(i)]));
    if (!isPlainObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, complete(of, [...steps, key])]));
  };
  const completeText = (text: string, steps: readonly string[]): string =>
    text.replace(variable, (written, name: string | undefined, otherwise: string | undefined) => {
      const value = name === undefined ? undefined : environment[name];
      if (otherwise !== undefined) return value || otherwise;
      if (value !== undefined) return value;
      const message =
        name === undefined
          ? `expected \${NAME} or \${NAME:-default}, got ${written}`
          : `the environment variable ${name} is not set`;
      problems.push({ path: dottedPath(steps), message });
      return written;
    });
  const entries = Object.entries(raw).map(([key, value]): [string, unknown] => [
    key,
    sectionsWithout.has(key) ? value : complete(value, [key]),
  ]);
  return { raw: Object.fromEntries(entries), problems };
}
