import { signal } from "@preact/signals";

/** The fragment of the console's address: which screen is open, what is open in it, and parameters such as filters. */
export interface Route {
  readonly screen: string;
  readonly rest: readonly string[];
  readonly parameters: URLSearchParams;
}

/** Reads a fragment such as `#/data/messages?sort=-id`. Without a screen it is `data`. */
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

/** The route of the page's address. It changes whenever the address does. */
export const route = signal<Route>(routeOf(location.hash));

addEventListener("hashchange", () => {
  route.value = routeOf(location.hash);
});

/** The address of a screen, from `#` on. */
export function hrefOf(
  screen: string,
  rest: readonly string[] = [],
  parameters: URLSearchParams | Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams(parameters).toString();
  return `#/${[screen, ...rest].map(encodeURIComponent).join("/")}${query === "" ? "" : `?${query}`}`;
}

/** Opens an address. With `isReplacing` the browser's Back button does not return to the current one. */
export function go(href: string, isReplacing = false): void {
  if (!isReplacing) {
    location.hash = href;
    return;
  }
  history.replaceState(null, "", href);
  route.value = routeOf(href);
}
