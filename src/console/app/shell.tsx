import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Failure, Loading } from "../parts/loaded-view.js";
import { Text } from "../parts/text.js";
import { hrefOf, route } from "../route.js";
import { signOut } from "../server/session.js";
import { session } from "../server/session-state.js";
import { texts } from "../texts.js";
import { Logo } from "./logo.js";
import { type ScreenEntry, screenGroups, screenNamed } from "./screens.js";

/** The navigation, and next to it the current screen. */
export function Shell() {
  const [isOpen, setOpen] = useState(false);
  const current = screenNamed(route.value.screen);
  useEffect(() => {
    document.title = `${current.title} · ${texts.app.title}`;
    setOpen(false);
  }, [current]);
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        {texts.app.skip}
      </button>
      <aside class={isOpen ? "side open" : "side"}>
        <div class="side-head">
          <Logo />
          <div class="side-names">
            <span class="side-name">{texts.app.name}</span>
            <span class="side-host" title={location.host}>
              {location.host}
            </span>
          </div>
          <Button
            kind="quiet"
            class="side-toggle"
            icon="menu"
            label={texts.app.menu}
            isExpanded={isOpen}
            onPress={() => setOpen(!isOpen)}
          />
        </div>
        <nav class="nav" aria-label={texts.app.navigation}>
          {screenGroups.map(({ title, screens }) => (
            <div class="nav-group" key={title}>
              <p class="nav-title">{title}</p>
              <ul>
                {screens.map((entry) => (
                  <li key={entry.name}>
                    <a
                      href={hrefOf(entry.name)}
                      class="nav-link"
                      aria-current={entry === current ? "page" : undefined}
                      onClick={() => setOpen(false)}
                    >
                      <Icon name={entry.icon} />
                      {entry.title}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <div class="side-foot">
          <span class="side-user" title={session.value?.user.email}>
            <Text value={session.value?.user.email ?? ""} />
          </span>
          <Button kind="quiet" icon="out" label={texts.app.signOut} onPress={signOut} />
        </div>
      </aside>
      <ScreenOf key={current.name} entry={current} />
    </div>
  );
}

const opened = new Map<string, ComponentType>();

/** Loads the screen's code when it is shown for the first time. */
function ScreenOf({ entry }: { readonly entry: ScreenEntry }) {
  const [error, setError] = useState<unknown>(null);
  const [, setCount] = useState(0);
  const load = () => {
    setError(null);
    entry.load().then(
      (found) => {
        opened.set(entry.name, found.default);
        setCount((count) => count + 1);
      },
      // A browser does not try a failed `import()` again, as after an update of the server has removed the file. Hence
      // the offer to reload the page.
      () => setError(new Error(texts.app.codeMissing)),
    );
  };
  const Screen = opened.get(entry.name);
  useEffect(() => {
    if (Screen === undefined) load();
  }, [entry]);
  if (Screen !== undefined) return <Screen />;
  return (
    <main class="screen" id="main" tabIndex={-1}>
      {error === null ? <Loading /> : <Failure error={error} onRetry={() => location.reload()} />}
    </main>
  );
}
