import type { ComponentChildren } from "preact";
import { Button } from "../parts/button.js";
import { List, type ListProps } from "../parts/list.js";
import { LoadedView } from "../parts/loaded-view.js";
import { texts } from "../texts.js";
import type { PagedList } from "./use-list.js";

interface ListViewProps<T> extends Omit<ListProps<T>, "items"> {
  readonly of: PagedList<T>;
  /** Shown if the list has no items. */
  readonly empty: ComponentChildren;
}

/** A list of the server's, how many of its items are shown, and a button for the next page. */
export function ListView<T>({ of, empty, ...list }: ListViewProps<T>) {
  return (
    <LoadedView of={of}>
      {(items) =>
        items.length === 0 ? (
          empty
        ) : (
          <>
            <List items={items} {...list} />
            <footer class="list-foot">
              <span class="muted">{texts.app.shown(items.length, of.total)}</span>
              {of.more && <Button onPress={of.more}>{texts.app.more}</Button>}
            </footer>
          </>
        )
      }
    </LoadedView>
  );
}
