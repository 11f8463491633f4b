import type { ComponentChildren } from "preact";
import { texts } from "../texts.js";
import { Button } from "./button.js";
import { Icon, type IconName } from "./icon.js";
import { messageOf } from "./notify.js";
import { isSignedOut, type Loaded } from "./use-loaded.js";

interface ViewProps<T> {
  readonly of: Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
}

/** Shows a placeholder, then what was loaded; if loading fails, the reason and a button to try again. */
export function LoadedView<T>({ of, children }: ViewProps<T>) {
  const { value, error, reload } = of;
  if (value === null && error === null) return <Loading />;
  return (
    <>
      {error !== null && !isSignedOut(error) && <Failure error={error} onRetry={reload} />}
      {value !== null && children(value)}
    </>
  );
}

/** A placeholder for what is still being loaded. */
export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">{texts.app.loading}</span>
      {[72, 94, 86, 60].map((width) => (
        <span key={width} class={`bone w${width}`} />
      ))}
    </div>
  );
}

/** Shows why something could not be loaded, with a button that tries again. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  return (
    <div class="failure-box" role="alert">
      <Icon name="warning" />
      <p>{messageOf(error)}</p>
      <Button isSmall icon="refresh" onPress={onRetry}>
        {texts.app.retry}
      </Button>
    </div>
  );
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** Says that there is nothing to show, and what the user can do about it. */
export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {children && <div class="empty-more">{children}</div>}
    </div>
  );
}
