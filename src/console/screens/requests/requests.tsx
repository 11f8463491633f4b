import { useEffect, useState } from "preact/hooks";
import type { AnsweredRequest, RequestsMeta } from "../../../wire/requests.js";
import { CallerButton } from "../../callers/caller-button.js";
import { PrincipalName } from "../../callers/principal-name.js";
import { Badge } from "../../parts/badge.js";
import { Button } from "../../parts/button.js";
import { Checkbox, Select } from "../../parts/field.js";
import { List } from "../../parts/list.js";
import { Empty, LoadedView } from "../../parts/loaded-view.js";
import { Screen } from "../../parts/screen.js";
import { Time } from "../../parts/time.js";
import { useLoaded } from "../../parts/use-loaded.js";
import { hrefOf } from "../../route.js";
import { type As, asText } from "../../server/as.js";
import { requestAnswer } from "../../server/request-data.js";
import { texts } from "../../texts.js";
import { whyOf } from "./why-of.js";

type StatusKind = "all" | "2xx" | "3xx" | "4xx" | "5xx" | "401" | "403";

const everyMs = 3000;
const shownMax = "500";

/** The last requests that the server has answered, the newest first. */
export default function Requests() {
  const [who, setWho] = useState<As | null>(null);
  const [isOwnShown, setOwnShown] = useState(false);
  const [status, setStatus] = useState<StatusKind>("all");
  const [isFollowing, setFollowing] = useState(true);
  const requests = useLoaded(
    (signal) => {
      const query = new URLSearchParams({
        limit: shownMax,
        ...(who !== null && { who: asText(who) }),
        ...(status !== "all" && { status }),
      });
      return requestAnswer<readonly AnsweredRequest[], RequestsMeta>("GET", `/requests?${query}`, undefined, {
        signal,
      });
    },
    [who, status],
  );
  useEffect(() => {
    // A request under way is not given up for the next one.
    if (!isFollowing || requests.isBusy) return;
    const timer = setInterval(() => document.visibilityState === "visible" && requests.reload(), everyMs);
    return () => clearInterval(timer);
  }, [isFollowing, requests.isBusy]);
  return (
    <Screen
      title={texts.nav.requests}
      actions={
        <Button icon={isFollowing ? "stop" : "play"} isPressed={isFollowing} onPress={() => setFollowing(!isFollowing)}>
          {isFollowing ? texts.requests.pause : texts.requests.follow}
        </Button>
      }
    >
      <div class="toolbar">
        <CallerButton as={who} none={texts.requests.everybody} title={texts.requests.who} onChange={setWho} />
        {who !== null && (
          <Button kind="quiet" icon="close" label={texts.requests.clearWho} onPress={() => setWho(null)} />
        )}
        <Select
          label={texts.requests.status}
          isLabelHidden
          value={status}
          options={Object.entries(texts.requests.kinds) as [StatusKind, string][]}
          onChange={setStatus}
        />
        <Checkbox
          label={texts.requests.withoutConsole}
          isChecked={!isOwnShown}
          onChange={(isLeftOut) => setOwnShown(!isLeftOut)}
        />
      </div>
      <LoadedView of={requests}>
        {({ data, meta }) => {
          const shown = isOwnShown ? data : data.filter(({ route }) => !isOfConsole(route));
          return shown.length === 0 ? (
            <Empty icon="requests" title={texts.requests.none}>
              <p>{texts.requests.noneHelp}</p>
            </Empty>
          ) : (
            <>
              <RequestList requests={shown} />
              <p class="hint">{texts.requests.scope[meta?.scope ?? "process"]}</p>
            </>
          );
        }}
      </LoadedView>
    </Screen>
  );
}

const isOfConsole = (route: string) => route.startsWith("/admin/api") || route.startsWith("/console");

function RequestList({ requests }: { readonly requests: readonly AnsweredRequest[] }) {
  return (
    <List
      label={texts.nav.requests}
      items={requests}
      idOf={({ id, at }) => `${id} ${at}`}
      columns={[
        { title: texts.requests.at, of: ({ at }) => <Time at={at} /> },
        {
          title: texts.requests.request,
          of: ({ method, route }) => (
            <span class="mono">
              <b>{method}</b> <bdi>{route}</bdi>
            </span>
          ),
        },
        { title: texts.requests.status, of: ({ status }) => <Status value={status} /> },
        {
          title: texts.requests.who,
          of: ({ principal }) => (
            <PrincipalName value={principal && [principal.kind, principal.id].filter(Boolean).join(":")} none="–" />
          ),
        },
        { title: texts.requests.ms, isNumber: true, of: ({ ms }) => ms.toFixed(1) },
        { title: texts.requests.rowsRead, isNumber: true, of: ({ rows_read: rows }) => rows ?? "–" },
        { title: texts.requests.rowsWritten, isNumber: true, of: ({ rows_written: rows }) => rows ?? "–" },
        {
          title: texts.requests.refusedBy,
          of: (asked) => {
            const parameters = whyOf(asked);
            return (
              <span class="refusal">
                {asked.rule !== null && <code>{asked.rule}</code>}
                {parameters !== null && (
                  <a class="button small" href={hrefOf("why", [], parameters)}>
                    {texts.requests.why}
                  </a>
                )}
              </span>
            );
          },
        },
      ]}
    />
  );
}

function Status({ value }: { readonly value: number }) {
  const kind = value >= 500 ? "bad" : value >= 400 ? "warn" : value >= 300 ? "plain" : "good";
  return <Badge kind={kind}>{value}</Badge>;
}
