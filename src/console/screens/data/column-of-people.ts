import type { Column } from "../../server/shapes.js";

/**
 * Whether the values of a column come from people: they are neither computed by a generated column nor set by the
 * server.
 */
export function isOfPeople({ generated, managed }: Column): boolean {
  return !generated && managed === null;
}
