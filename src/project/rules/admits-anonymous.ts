import type { Expression } from "./ast.js";
import { neverTrue } from "./never-true.js";
import { bindAuth } from "./specialise.js";

/**
 * Whether the rule can come out TRUE with `auth` all NULL, at whatever time (interface, section 4). Where it cannot, a
 * request without credentials is refused with 401.
 */
export function admitsAnonymous(expression: Expression): boolean {
  return !neverTrue(bindAuth(expression, { id: null, email: null, role: null }));
}
