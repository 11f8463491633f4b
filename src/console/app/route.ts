import { signal } from "@preact/signals";

/** Where the console is: the screen, what of it is open, and further parameters, all in the address behind `#`. */
export interface Route {
  readonly screen: string;
  readonly rest: readonly string[];
  readonly parameters: URLSearchParams;
}

/** The route of an address's fragment: `#/data/messages?sort=-id`. */
export function routeOf(fragment: string): Route {
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

/** Where the console is now. */
export const route = signal<Route>(routeOf(location.hash));

addEventListener("hashchange", () => {
  route.value = routeOf(location.hash);
});

/** The address of a screen. */
export function hrefOf(
  screen: string,
  rest: readonly string[] = [],
  parameters: URLSearchParams | Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams(parameters).toString();
  return `#/${[screen, ...rest].map(encodeURIComponent).join("/")}${query === "" ? "" : `?${query}`}`;
}

/** Goes to an address, in the place of the one that is there where going back should not come to it. */
export function go(href: string, isReplacing = false): void {
  if (!isReplacing) {
    location.hash = href;
    return;
  }
  history.replaceState(null, "", href);
  route.value = routeOf(href);
}
