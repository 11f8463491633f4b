import { useEffect, useRef, useState } from "preact/hooks";
import { SvcError } from "../../client/index.js";
import { returns } from "../server/console-fetch.js";
import { session } from "../server/session-state.js";

/** Something that is loaded from the server. While it is loaded again, `value` remains what was loaded before. */
export interface Loaded<T> {
  readonly value: T | null;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly reload: () => void;
}

/** Loads when the component appears, one of `keys` changes, the server is back, or another user has signed in. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "reload">>({ value: null, error: null, isBusy: true });
  const [count, setCount] = useState(0);
  const name = JSON.stringify(keys);
  const loadedName = useRef(name);
  // What was loaded for other keys is not shown for the new ones.
  const isOther = loadedName.current !== name;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    loadedName.current = name;
    setState((before) => ({ value: isOther ? null : before.value, error: null, isBusy: true }));
    load(signal).then(
      (value) => signal.aborted || setState({ value, error: null, isBusy: false }),
      (error: unknown) => signal.aborted || setState(({ value }) => ({ value, error, isBusy: false })),
    );
    return () => controller.abort();
  }, [name, count, returns.value, session.value?.user.id]);
  const shown = isOther ? { value: null, error: null, isBusy: true } : state;
  return { ...shown, reload: () => setCount((before) => before + 1) };
}

/** Whether nobody is signed in. Such an error is not shown, because the whole page becomes the form for signing in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof SvcError && error.status === 401;
}
