import { useState } from "preact/hooks";
import { Button } from "../parts/button.js";
import { useLoaded } from "../parts/use-loaded.js";
import type { As } from "../server/as.js";
import { ask } from "../server/ask.js";
import type { User } from "../server/shapes.js";
import { CallerPicker } from "./caller-picker.js";

interface CallerButtonProps {
  readonly as: As | null;
  /** The text on the button where no caller is chosen. */
  readonly none: string;
  /**
   * What the caller is chosen for. It is the title of the dialog in which one is chosen, and part of what screen
   * readers say for the button.
   */
  readonly title: string;
  readonly onChange: (as: As) => void;
}

/**
 * A button that names the caller as whom the administrator views data (a user, an API key or nobody), and opens a
 * dialog to choose another.
 */
export function CallerButton({ as, none, title, onChange }: CallerButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const label = useCallerLabel(as);
  return (
    <>
      <Button icon="eye" class="caller" onPress={() => setOpen(true)}>
        <span class="visually-hidden">{title}</span>
        <bdi>{label ?? none}</bdi>
      </Button>
      {isOpen && (
        <CallerPicker
          title={title}
          onClose={() => setOpen(false)}
          onPick={(picked) => {
            setOpen(false);
            onChange(picked);
          }}
        />
      )}
    </>
  );
}

/**
 * The name under which a caller is shown. Where only the id of a user is known, as from an address, the user's email is
 * loaded.
 */
function useCallerLabel(as: As | null): string | null {
  const isUnnamed = as?.kind === "user" && as.label === as.id;
  const found = useLoaded(
    async (signal) => {
      if (!isUnnamed) return { email: null };
      const query = new URLSearchParams({ "where[id]": as.id, limit: "1", total: "none" });
      const [user] = await ask<readonly User[]>("GET", `/users?${query}`, undefined, { signal });
      return { email: user?.email ?? null };
    },
    [as],
  );
  return found.value?.email ?? as?.label ?? null;
}
