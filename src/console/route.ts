import { signal } from "@preact/signals";

/**
 * What the fragment of the console's address (the part after `#`) says: which screen is open, what is open in the
 * screen, and parameters such as filters.
 */
export interface Route {
  readonly screen: string;
  readonly rest: readonly string[];
  readonly parameters: URLSearchParams;
}

/**
 * Reads the route from the fragment of an address, such as `#/data/messages?sort=-id`. Without a screen it is `data`.
 */
function routeOf(fragment: string): Route {
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [screen = "", ...rest] = path.split("/").map(decoded);
  return { screen: screen === "" ? "data" : screen, rest, parameters: new URLSearchParams(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The route of the page's address as it is now. It changes whenever the address does. */
export const route = signal<Route>(routeOf(location.hash));

addEventListener("hashchange", () => {
  route.value = routeOf(location.hash);
});

/** The address, from `#` on, of a screen with what is open in it and its parameters. */
export function hrefOf(
  screen: string,
  rest: readonly string[] = [],
  parameters: URLSearchParams | Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams(parameters).toString();
  return `#/${[screen, ...rest].map(encodeURIComponent).join("/")}${query === "" ? "" : `?${query}`}`;
}

/**
 * Opens the address of a screen. With `isReplacing` it takes the place of the current address in the browser's history,
 * so that the Back button does not return to that one.
 */
export function go(href: string, isReplacing = false): void {
  if (!isReplacing) {
    location.hash = href;
    return;
  }
  history.replaceState(null, "", href);
  route.value = routeOf(href);
}
