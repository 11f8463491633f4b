import { useEffect } from "preact/hooks";
import { ConfirmationDialog } from "../parts/confirm.js";
import { Failure, Loading } from "../parts/loaded-view.js";
import { Toasts } from "../parts/toasts.js";
import { useLoaded } from "../parts/use-loaded.js";
import { route } from "../route.js";
import { loadSession } from "../server/session.js";
import { session } from "../server/session-state.js";
import { texts } from "../texts.js";
import { AwayBar } from "./away-bar.js";
import { PasswordDialog } from "./password-dialog.js";
import { Setup } from "./setup.js";
import { Shell } from "./shell.js";
import { SignIn } from "./sign-in.js";

/** The whole page. */
export function App() {
  return (
    <>
      <AwayBar />
      <Body />
      <PasswordDialog />
      <ConfirmationDialog />
      <Toasts />
    </>
  );
}

function Body() {
  const { screen, rest } = route.value;
  const loaded = useLoaded(async () => {
    await loadSession();
    return true;
  }, []);
  const isSetup = screen === "setup" && rest[0] !== undefined;
  useEffect(() => {
    if (session.value === null) document.title = texts.app.title;
  }, [session.value]);
  if (session.value) return <Shell />;
  if (isSetup) return <Setup token={rest[0]!} />;
  if (session.value === null) return <SignIn />;
  return (
    <div class="door">
      {loaded.error === null ? <Loading /> : <Failure error={loaded.error} onRetry={loaded.reload} />}
    </div>
  );
}
