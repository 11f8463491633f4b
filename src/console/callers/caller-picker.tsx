import { useState } from "preact/hooks";
import type { ApiKey } from "../../wire/keys.js";
import type { ListedUser } from "../../wire/users.js";
import { Dialog } from "../parts/dialog.js";
import { TextField } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { LoadedView } from "../parts/loaded-view.js";
import { Text } from "../parts/text.js";
import { useLoaded } from "../parts/use-loaded.js";
import type { As } from "../server/as.js";
import { requestAnswer } from "../server/request-data.js";
import { texts } from "../texts.js";

interface PickerProps {
  readonly title: string;
  readonly onPick: (as: As) => void;
  readonly onClose: () => void;
}

/** A dialog to choose as whom to view data: a user, nobody (a caller who is not signed in), or an API key. */
export function CallerPicker({ title, onPick, onClose }: PickerProps) {
  const [text, setText] = useState("");
  const found = useLoaded((signal) => callersLike(text, signal), [text]);
  return (
    <Dialog title={title} onClose={onClose}>
      <TextField
        label={texts.callers.search}
        type="search"
        isFocused
        value={text}
        placeholder={texts.callers.placeholder}
        onInput={setText}
      />
      <LoadedView of={found}>
        {(callers) => (
          <ul class="choices" aria-label={texts.callers.found}>
            {callers.map((as) => (
              <li key={as.kind + as.id}>
                <button type="button" class="choice" onClick={() => onPick(as)}>
                  <Icon name={as.kind === "key" ? "keys" : as.kind === "user" ? "users" : "eye"} />
                  <Text value={as.label} />
                  <span class="muted">{texts.callers.kinds[as.kind]}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </LoadedView>
    </Dialog>
  );
}

const shownMax = 12;

async function callersLike(text: string, signal: AbortSignal): Promise<readonly As[]> {
  const filter = new URLSearchParams({ limit: String(shownMax), total: "none", sort: "email" });
  if (text !== "") filter.set("filter[email][icontains]", text);
  const [users, keys] = await Promise.all([
    requestAnswer<readonly ListedUser[]>("GET", `/users?${filter}`, undefined, { signal }),
    requestAnswer<readonly ApiKey[]>("GET", "/service-keys?limit=100&total=none", undefined, { signal }),
  ]);
  const isLike = (label: string) => label.toLowerCase().includes(text.toLowerCase());
  const anonymous: As = { kind: "anonymous", id: "", label: texts.callers.anonymous };
  return [
    ...(isLike(anonymous.label) ? [anonymous] : []),
    ...users.data.map(({ id, email }): As => ({ kind: "user", id, label: email })),
    ...keys.data
      .filter(({ name, revoked_at }) => revoked_at === null && isLike(name))
      .slice(0, shownMax)
      .map(({ id, name }): As => ({ kind: "key", id, label: name })),
  ];
}
