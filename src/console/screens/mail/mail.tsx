import { useState } from "preact/hooks";
import type { ListedMail } from "../../../wire/mails.js";
import { Badge } from "../../parts/badge.js";
import { Button } from "../../parts/button.js";
import { CopyButton } from "../../parts/copy.js";
import { Select } from "../../parts/field.js";
import { Empty } from "../../parts/loaded-view.js";
import { Screen } from "../../parts/screen.js";
import { Text } from "../../parts/text.js";
import { Time } from "../../parts/time.js";
import { texts } from "../../texts.js";
import { ListView } from "../list-view.js";
import { useList } from "../use-list.js";

type MailFilter = "all" | "waiting" | "failed" | "sent" | "dropped";

/** The mails that wait to be sent, that failed, and that were sent. */
export default function MailScreen() {
  const [state, setState] = useState<MailFilter>("all");
  const mails = useList<ListedMail>("/outbox", {
    ...(state !== "all" && { state }),
  });
  return (
    <Screen title={texts.nav.mail} actions={<Button icon="refresh" label={texts.app.reload} onPress={mails.reload} />}>
      <div class="toolbar">
        <Select
          label={texts.mail.state}
          isLabelHidden
          value={state}
          options={Object.entries(texts.mail.kinds) as [MailFilter, string][]}
          onChange={setState}
        />
      </div>
      <ListView
        of={mails}
        empty={
          <Empty icon="mail" title={texts.mail.none}>
            <p>{texts.mail.noneHelp}</p>
          </Empty>
        }
        label={texts.nav.mail}
        idOf={({ id }) => id}
        columns={[
          { title: texts.mail.to, of: ({ to }) => <Text value={to} /> },
          { title: texts.mail.purpose, of: ({ purpose }) => texts.mail.purposes[purpose] ?? purpose },
          {
            title: texts.mail.state,
            of: ({ state: found }) => <Badge kind={kindOf(found)}>{texts.mail.states[found] ?? found}</Badge>,
          },
          { title: texts.mail.attempts, isNumber: true, of: ({ attempts }) => attempts },
          { title: texts.mail.next, of: ({ next_attempt_at: at }) => <Time at={at} /> },
          { title: texts.app.created, of: ({ created_at: at }) => <Time at={at} /> },
          {
            title: texts.mail.more,
            of: (mail) => <More mail={mail} />,
          },
        ]}
      />
    </Screen>
  );
}

function More({ mail: { link, last_error: error } }: { readonly mail: ListedMail }) {
  return (
    <span class="refusal">
      {error && (
        <span class="bad-text">
          <Text value={error} />
        </span>
      )}
      {link && /^https?:\/\//.test(link) && (
        <>
          <a class="button small" href={link} target="_blank" rel="noreferrer">
            {texts.mail.openLink}
          </a>
          <CopyButton text={link} />
        </>
      )}
    </span>
  );
}

function kindOf(state: string): "good" | "bad" | "warn" {
  if (state === "sent") return "good";
  return state === "failed" ? "bad" : "warn";
}
