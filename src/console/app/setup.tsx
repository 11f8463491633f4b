import { go, hrefOf } from "../route.js";
import { setUp } from "../server/session.js";
import { texts } from "../texts.js";
import { CredentialsForm } from "./credentials-form.js";
import { Door } from "./door.js";

/** The form with which the first administrator sets a password, for the setup link that the server has printed. */
export function Setup({ token }: { readonly token: string }) {
  const submit = async (email: string, password: string) => {
    await setUp(token, email, password);
    // The token is used up. The address with it is replaced, so that it does not stay in the browser's history.
    go(hrefOf("data"), true);
  };
  return (
    <Door title={texts.setup.title}>
      <p class="prose">{texts.setup.why}</p>
      <CredentialsForm action={texts.setup.action} newPasswordHint={texts.setup.passwordHint} onSubmit={submit} />
      <p class="hint">
        <a href={hrefOf("data")}>{texts.setup.signInInstead}</a>
      </p>
    </Door>
  );
}
