import { Refusal } from "../http/refusal.js";
import { formatProblem, type Problem } from "../problems/problem.js";

/**
 * The refusal (400) that lists problems of the project's files, each on a line of its own, and how many `more` there are.
 * `withPlaces` also gives each with its place as a member of its own.
 */
export function problemsRefusal(
  { problems, more = 0 }: { readonly problems: readonly Problem[]; readonly more?: number },
  withPlaces = false,
): Refusal {
  const lines = [...problems.map(formatProblem), ...(more > 0 ? [`and ${more} more problems`] : [])];
  const places = problems.map(({ file, line = null, path, message }) => ({ file, line, path, message }));
  return new Refusal("bad_request", lines.join("\n"), withPlaces ? { problems: places } : {});
}
