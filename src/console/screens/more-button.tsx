import { Button } from "../parts/button.js";
import { texts } from "../texts.js";
import type { PagedList } from "./use-list.js";

/** Under a list: how much of it is shown, and what loads more. */
export function MoreButton<T>({ of }: { readonly of: PagedList<T> }) {
  const shown = of.value?.length ?? 0;
  return (
    <footer class="list-foot">
      <span class="muted">{texts.app.shown(shown, of.total)}</span>
      {of.more && <Button onPress={of.more}>{texts.app.more}</Button>}
    </footer>
  );
}
