import { useState } from "preact/hooks";
import { SvcError } from "../../../client/index.js";
import type { ListedSession } from "../../../wire/sessions.js";
import type { ListedUser, RevokedSessions } from "../../../wire/users.js";
import { callerParameters } from "../../callers/caller-parameters.js";
import { Button } from "../../parts/button.js";
import { confirm } from "../../parts/confirm.js";
import { CopyButton } from "../../parts/copy.js";
import { Dialog } from "../../parts/dialog.js";
import { Empty, LoadedView } from "../../parts/loaded-view.js";
import { notify } from "../../parts/notify.js";
import { Text } from "../../parts/text.js";
import { Time } from "../../parts/time.js";
import { useLoaded } from "../../parts/use-loaded.js";
import { hrefOf } from "../../route.js";
import { requestAnswer, requestData } from "../../server/request-data.js";
import { session } from "../../server/session-state.js";
import { texts } from "../../texts.js";
import { UserState } from "./user-state.js";

interface UserDrawerProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

/** A panel with one user: facts, sessions, and buttons such as for disabling or deleting the user. */
export function UserDrawer({ id, onClose, onChanged }: UserDrawerProps) {
  const loaded = useLoaded(
    async (signal) => {
      const query = new URLSearchParams({ "where[id]": id, limit: "1" });
      const [found] = await requestData<readonly ListedUser[]>("GET", `/users?${query}`, undefined, {
        signal,
      });
      return { user: found ?? null };
    },
    [id],
  );
  const [changes, setChanges] = useState(0);
  const changed = () => {
    setChanges((before) => before + 1);
    loaded.reload();
    onChanged();
  };
  const email = loaded.value?.user?.email;
  return (
    <Dialog kind="side" title={email ?? texts.users.user} onClose={onClose}>
      <LoadedView of={loaded}>
        {({ user }) =>
          user === null ? (
            <Empty icon="users" title={texts.users.gone} />
          ) : (
            <>
              <Facts user={user} />
              <UserActions user={user} onChanged={changed} onDeleted={() => [onChanged(), onClose()]} />
              <Sessions user={user} changes={changes} />
            </>
          )
        }
      </LoadedView>
    </Dialog>
  );
}

function Facts({ user }: { readonly user: ListedUser }) {
  return (
    <dl class="facts">
      <dt>{texts.users.id}</dt>
      <dd class="mono">
        {user.id} <CopyButton text={user.id} />
      </dd>
      <dt>{texts.users.state}</dt>
      <dd>
        <UserState user={user} />
      </dd>
      <dt>{texts.users.role}</dt>
      <dd>{user.role}</dd>
      <dt>{texts.app.created}</dt>
      <dd>
        <Time at={user.created_at} />
      </dd>
    </dl>
  );
}

interface UserActionsProps {
  readonly user: ListedUser;
  readonly onChanged: () => void;
  readonly onDeleted: () => void;
}

function UserActions({ user, onChanged, onDeleted }: UserActionsProps) {
  const { id, email, role, disabled } = user;
  const isOneself = session.value?.user.id === id;
  const change = (changes: object) => async () => {
    await requestData("PATCH", `/users/${encodeURIComponent(id)}`, changes);
    onChanged();
  };
  const changeAsked = (action: string, text: string, changes: object) => () =>
    confirm({ title: action, text, action, act: change(changes) });
  const endSessions = async () => {
    const done = await requestData<RevokedSessions>("POST", `/users/${encodeURIComponent(id)}/revoke-sessions`);
    notify(texts.users.sessionsEnded(done.revoked_sessions));
    onChanged();
  };
  const reset = async () => {
    await requestData("POST", "//auth/password-reset/request", { email }).catch((error: unknown) => {
      // If the console has an address of its own, the server answers nothing else there: this request is a 404. Resets
      // of passwords can then only be asked for at the server's other address.
      const isElsewhere = error instanceof SvcError && error.status === 404;
      throw isElsewhere ? new Error(texts.users.resetElsewhere) : error;
    });
    notify(texts.users.resetSent(email));
  };
  const remove = () =>
    confirm({
      title: texts.users.deleteTitle(email),
      text: texts.users.deleteHelp,
      action: texts.app.delete,
      act: async () => {
        await requestData("DELETE", `/users/${encodeURIComponent(id)}`);
        onDeleted();
      },
    });
  return (
    <div class="actions">
      <a class="button" href={hrefOf("data", [], callerParameters({ kind: "user", id, label: email }))}>
        {texts.users.seeAs}
      </a>
      <Button onPress={reset}>{texts.users.reset}</Button>
      {role === "admin" ? (
        <Button onPress={changeAsked(texts.users.demote, texts.users.demoteHelp(email), { role: "user" })}>
          {texts.users.demote}
        </Button>
      ) : (
        <Button onPress={changeAsked(texts.users.promote, texts.users.promoteHelp(email), { role: "admin" })}>
          {texts.users.promote}
        </Button>
      )}
      {disabled ? (
        <Button onPress={change({ disabled: false })}>{texts.users.enable}</Button>
      ) : (
        <Button
          isDisabled={isOneself}
          onPress={changeAsked(texts.users.disable, texts.users.disableHelp(email), { disabled: true })}
        >
          {texts.users.disable}
        </Button>
      )}
      <Button isDisabled={isOneself} onPress={endSessions}>
        {texts.users.endSessions}
      </Button>
      <Button kind="danger" isDisabled={isOneself} onPress={remove}>
        {texts.app.delete}
      </Button>
    </div>
  );
}

interface SessionsProps {
  readonly user: ListedUser;
  /** How often the user was changed here. Each change may have ended sessions, so their list is loaded again. */
  readonly changes: number;
}

function Sessions({ user, changes }: SessionsProps) {
  const sessions = useLoaded(
    async (signal) => {
      const query = new URLSearchParams({ user_id: user.id, limit: "50" });
      return (await requestAnswer<readonly ListedSession[]>("GET", `/sessions?${query}`, undefined, { signal })).data;
    },
    [user.id, changes],
  );
  const end = async ({ id }: ListedSession) => {
    await requestData("DELETE", `/sessions/${encodeURIComponent(id)}`);
    sessions.reload();
  };
  return (
    <section>
      <h3>{texts.users.sessions}</h3>
      <LoadedView of={sessions}>
        {(found) =>
          found.length === 0 ? (
            <p class="muted">{texts.users.noSessions}</p>
          ) : (
            <ul class="plain-list">
              {found.map((each) => (
                <li key={each.id}>
                  <span>
                    <Text value={texts.users.sessionKinds[each.kind] ?? each.kind} />{" "}
                    <span class="muted small">
                      {texts.users.since} <Time at={each.created_at} />
                    </span>
                  </span>
                  <Button isSmall onPress={() => end(each)}>
                    {texts.users.endSession}
                  </Button>
                </li>
              ))}
            </ul>
          )
        }
      </LoadedView>
    </section>
  );
}
