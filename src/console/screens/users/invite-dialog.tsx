import { useState } from "preact/hooks";
import { Dialog } from "../../parts/dialog.js";
import { Select, TextField } from "../../parts/field.js";
import { Form } from "../../parts/form.js";
import { notify } from "../../parts/notify.js";
import { Tabs } from "../../parts/tabs.js";
import { requestData } from "../../server/request-data.js";
import { texts } from "../../texts.js";

type InviteMode = "invite" | "create";
type Role = "user" | "admin";

/** Adds a user: invites them by mail, or creates them with a password. */
export function InviteDialog({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) {
  const [way, setWay] = useState<InviteMode>("invite");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [role, setRole] = useState<Role>("user");
  const submit = async () => {
    if (way === "invite") await requestData("POST", "/users/invite", { email, role });
    else await requestData("POST", "/users", { email, password, role });
    notify(way === "invite" ? texts.users.invited(email) : texts.users.created(email));
    onDone();
    onClose();
  };
  return (
    <Dialog title={texts.users.add} onClose={onClose}>
      <Tabs
        label={texts.users.add}
        value={way}
        tabs={[
          ["invite", texts.users.byMail],
          ["create", texts.users.withPassword],
        ]}
        onChange={setWay}
      />
      <Form
        action={way === "invite" ? texts.users.invite : texts.users.create}
        isDisabled={email === "" || (way === "create" && password === "")}
        onCancel={onClose}
        onSubmit={submit}
      >
        <TextField label={texts.users.email} type="email" isFocused value={email} onInput={setEmail} />
        {way === "create" && (
          <TextField
            label={texts.signIn.password}
            type="password"
            autoComplete="new-password"
            hint={texts.users.passwordHint}
            value={password}
            onInput={setPassword}
          />
        )}
        <Select
          label={texts.users.role}
          value={role}
          options={[
            ["user", texts.users.roleUser],
            ["admin", texts.users.roleAdmin],
          ]}
          onChange={setRole}
        />
      </Form>
    </Dialog>
  );
}
