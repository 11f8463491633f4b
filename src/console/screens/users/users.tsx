import { useState } from "preact/hooks";
import type { ListedUser } from "../../../wire/users.js";
import { PrincipalName } from "../../callers/principal-name.js";
import { Badge } from "../../parts/badge.js";
import { Button } from "../../parts/button.js";
import { Select } from "../../parts/field.js";
import { Empty } from "../../parts/loaded-view.js";
import { Screen } from "../../parts/screen.js";
import { Text } from "../../parts/text.js";
import { Time } from "../../parts/time.js";
import { go, hrefOf, route } from "../../route.js";
import { texts } from "../../texts.js";
import { ListView } from "../list-view.js";
import { useList } from "../use-list.js";
import { InviteDialog } from "./invite-dialog.js";
import { UserDrawer } from "./user-drawer.js";
import { UserState } from "./user-state.js";

type Kind = "all" | "admin" | "user" | "disabled" | "unverified";

const filterOfKind: Record<Kind, Readonly<Record<string, string>>> = {
  all: {},
  admin: { "where[role]": "admin" },
  user: { "where[role]": "user" },
  disabled: { "where[disabled]": "true" },
  unverified: { "where[email_verified]": "false" },
};

/** The list of users: it searches and filters them, adds users, and opens one of them. */
export default function Users() {
  const [text, setText] = useState("");
  const [kind, setKind] = useState<Kind>("all");
  const [isInviting, setInviting] = useState(false);
  const users = useList<ListedUser>("/users", {
    ...filterOfKind[kind],
    ...(text !== "" && { "filter[email][icontains]": text }),
    sort: "-created_at",
  });
  const opened = route.value.rest[0];
  return (
    <Screen
      title={texts.nav.users}
      actions={
        <Button kind="main" icon="plus" onPress={() => setInviting(true)}>
          {texts.users.add}
        </Button>
      }
    >
      <div class="toolbar">
        <input
          class="input search"
          type="search"
          aria-label={texts.users.search}
          placeholder={texts.users.search}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Select
          label={texts.users.show}
          isLabelHidden
          value={kind}
          options={Object.entries(texts.users.kinds) as [Kind, string][]}
          onChange={setKind}
        />
      </div>
      <ListView
        of={users}
        empty={<Empty icon="users" title={texts.users.none} />}
        label={texts.nav.users}
        idOf={({ id }) => id}
        columns={[
          {
            title: texts.users.email,
            of: ({ id, email }) => (
              <a class="strong" href={hrefOf("users", [id])}>
                <Text value={email} />
              </a>
            ),
          },
          {
            title: texts.users.role,
            of: ({ role }) => <Badge kind={role === "admin" ? "accent" : "plain"}>{role}</Badge>,
          },
          { title: texts.users.state, of: (user) => <UserState user={user} /> },
          { title: texts.app.created, of: ({ created_at: at }) => <Time at={at} /> },
          {
            title: texts.app.by,
            of: ({ created_by: by }) => <PrincipalName value={by} none={texts.users.themselves} />,
          },
        ]}
      />
      {isInviting && <InviteDialog onClose={() => setInviting(false)} onDone={users.reload} />}
      {opened !== undefined && (
        <UserDrawer key={opened} id={opened} onClose={() => go(hrefOf("users"))} onChanged={users.reload} />
      )}
    </Screen>
  );
}
