import { Button } from "../parts/button.js";
import { texts } from "../texts.js";
import type { PagedList } from "./use-list.js";

/** Stands below a list: says how many of its items are shown, and has a button that loads the next page. */
export function MoreButton<T>({ of }: { readonly of: PagedList<T> }) {
  const shown = of.value?.length ?? 0;
  return (
    <footer class="list-foot">
      <span class="muted">{texts.app.shown(shown, of.total)}</span>
      {of.more && <Button onPress={of.more}>{texts.app.more}</Button>}
    </footer>
  );
}
