import { signInAdmin } from "../server/session.js";
import { texts } from "../texts.js";
import { CredentialsForm } from "./credentials-form.js";
import { Door } from "./door.js";

/** The form for administrators. The address still names the screen that they wanted, so it opens afterwards. */
export function SignIn() {
  return (
    <Door title={texts.signIn.title}>
      <CredentialsForm action={texts.signIn.action} newPasswordHint={null} onSubmit={signInAdmin} />
      <details class="door-help">
        <summary>{texts.signIn.noPassword}</summary>
        <p>{texts.signIn.noPasswordHelp}</p>
        <pre class="code">{texts.signIn.createCommand}</pre>
      </details>
    </Door>
  );
}
