import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { TextField } from "../parts/field.js";
import { Form } from "../parts/form.js";
import { passwordRequest } from "../server/password-request.js";
import { confirmPassword } from "../server/session.js";
import { session } from "../server/session-state.js";
import { texts } from "../texts.js";

/** Asks the administrator for their password again, because the server demands it before it carries out an action. */
export function PasswordDialog() {
  const asked = passwordRequest.value;
  return asked === null ? null : <Question answer={asked.answer} />;
}

function Question({ answer }: { readonly answer: (isGiven: boolean) => void }) {
  const [password, setPassword] = useState("");
  return (
    <Dialog title={texts.password.title} onClose={() => answer(false)}>
      <Form
        action={texts.password.action}
        isDisabled={password === ""}
        onCancel={() => answer(false)}
        onSubmit={async () => {
          await confirmPassword(password);
          answer(true);
        }}
      >
        <p class="prose">{texts.password.why}</p>
        <input
          class="visually-hidden"
          type="email"
          autocomplete="username"
          aria-label={texts.signIn.email}
          tabIndex={-1}
          readOnly
          value={session.value?.user.email ?? ""}
        />
        <TextField
          label={texts.signIn.password}
          type="password"
          autoComplete="current-password"
          isFocused
          value={password}
          onInput={setPassword}
        />
      </Form>
    </Dialog>
  );
}
