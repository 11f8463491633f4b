import { useEffect, useState } from "preact/hooks";
import type { NewestPage, SystemPage } from "../../wire/pages.js";
import { type Loaded, useLoaded } from "../parts/use-loaded.js";
import { requestAnswer } from "../server/request-data.js";

/** A list from the administration API, such as users or keys, with further pages. */
export interface PagedList<T> extends Loaded<readonly T[]> {
  readonly total: number | null;
  /** Adds the next page to the list; null if there is none. */
  readonly more: (() => Promise<void>) | null;
}

type Listed<T> = { readonly meta: { readonly total?: number | null } } & (SystemPage<T> | NewestPage<T>);

interface Further<T> {
  readonly of: Listed<T> | null;
  readonly pages: readonly Listed<T>[];
}

const pageSize = "100";

/** Loads the first page of a list at a path under /admin/api. */
export function useList<T>(path: string, parameters: Readonly<Record<string, string>>): PagedList<T> {
  const first = useLoaded(
    async (signal) => {
      const query = new URLSearchParams({ limit: pageSize, ...parameters });
      return (await requestAnswer("GET", `${path}?${query}`, undefined, { signal })) as Listed<T>;
    },
    [path, parameters],
  );
  // The further pages, and the first page to which they belong.
  const [further, setFurther] = useState<Further<T>>({ of: null, pages: [] });
  useEffect(() => setFurther({ of: first.value, pages: [] }), [first.value]);
  const others = further.of === first.value ? further.pages : [];
  const last = others.at(-1) ?? first.value;
  const cursor = last?.meta?.next_cursor;
  const more = async () => {
    const page = await requestAnswer("GET", `${path}?${new URLSearchParams({ cursor: cursor! })}`);
    setFurther(({ of, pages }) => ({
      of,
      pages: of === first.value ? [...pages, page as Listed<T>] : pages,
    }));
  };
  return {
    ...first,
    value: first.value && [first.value, ...others].flatMap(({ data }) => data),
    total: first.value?.meta?.total ?? null,
    more: cursor === undefined ? null : more,
  };
}
