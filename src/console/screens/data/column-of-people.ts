import type { Column } from "../../server/shapes.js";

/** Whether people give a column its values, and not the server. */
export function isOfPeople({ generated, managed }: Column): boolean {
  return !generated && managed === null;
}
