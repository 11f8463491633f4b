import { useState } from "preact/hooks";
import type { ApiKey } from "../../../wire/keys.js";
import { PrincipalName } from "../../callers/principal-name.js";
import { Badge } from "../../parts/badge.js";
import { Button } from "../../parts/button.js";
import { confirm } from "../../parts/confirm.js";
import { Empty } from "../../parts/loaded-view.js";
import { notify } from "../../parts/notify.js";
import { Screen } from "../../parts/screen.js";
import { Text } from "../../parts/text.js";
import { Time } from "../../parts/time.js";
import { requestData } from "../../server/request-data.js";
import { texts } from "../../texts.js";
import { ListView } from "../list-view.js";
import { useList } from "../use-list.js";
import { NewKeyDialog } from "./new-key-dialog.js";

/** The keys of the API. */
export default function Keys() {
  const [isMaking, setMaking] = useState(false);
  const keys = useList<ApiKey>("/service-keys", { sort: "-created_at" });
  const revoke = ({ id, name }: ApiKey) =>
    confirm({
      title: texts.keys.revokeTitle(name),
      text: texts.keys.revokeHelp,
      action: texts.keys.revoke,
      act: async () => {
        await requestData("DELETE", `/service-keys/${encodeURIComponent(id)}`);
        notify(texts.keys.revoked);
        keys.reload();
      },
    });
  return (
    <Screen
      title={texts.nav.keys}
      actions={
        <Button kind="main" icon="plus" onPress={() => setMaking(true)}>
          {texts.keys.make}
        </Button>
      }
    >
      <p class="lead">{texts.keys.lead}</p>
      <ListView
        of={keys}
        empty={
          <Empty icon="keys" title={texts.keys.none}>
            <p>{texts.keys.noneHelp}</p>
          </Empty>
        }
        label={texts.nav.keys}
        idOf={({ id }) => id}
        columns={[
          {
            title: texts.keys.name,
            of: ({ name }) => (
              <span class="strong">
                <Text value={name} />
              </span>
            ),
          },
          {
            title: texts.keys.scopes,
            of: ({ scopes }) => (
              <span class="badges">
                {scopes.map((scope) => (
                  <Badge key={scope} kind={scope === "project:backend" ? "accent" : "plain"}>
                    <bdi>{scope}</bdi>
                  </Badge>
                ))}
              </span>
            ),
          },
          { title: texts.app.created, of: ({ created_at: at }) => <Time at={at} /> },
          {
            title: texts.app.by,
            of: ({ created_by: by }) => <PrincipalName value={by} none="–" />,
          },
          { title: texts.keys.state, of: (key) => <KeyState value={key} /> },
          {
            title: texts.app.actions,
            isNarrow: true,
            of: (key) =>
              key.revoked_at === null && (
                <Button isSmall onPress={() => revoke(key)}>
                  {texts.keys.revoke}
                </Button>
              ),
          },
        ]}
      />
      {isMaking && <NewKeyDialog onClose={() => setMaking(false)} onMade={keys.reload} />}
    </Screen>
  );
}

function KeyState({ value }: { readonly value: ApiKey }) {
  const { revoked_at: revokedAt, expires_at: expiresAt } = value;
  if (revokedAt !== null)
    return (
      <span>
        <Badge kind="bad">{texts.keys.isRevoked}</Badge> <Time at={revokedAt} />
      </span>
    );
  if (expiresAt !== null && Date.parse(expiresAt) < Date.now()) return <Badge kind="warn">{texts.keys.expired}</Badge>;
  return (
    <span>
      <Badge kind="good">{texts.users.active}</Badge>{" "}
      {expiresAt !== null && (
        <span class="muted small">
          {texts.keys.ends} <Time at={expiresAt} />
        </span>
      )}
    </span>
  );
}
