import { type ReactNode, useState } from "react";
import { Dialog } from "../../parts/dialog.tsx";
import { CurrentPasswordField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";

interface PasswordDialogProps {
  title: string;
  text: ReactNode;
  submit: string;
  onSubmit: (currentPassword: string) => Promise<void>;
  onClose: () => void;
}

/** A change to the sign-in methods, which requires the password again. */
export function PasswordDialog(props: PasswordDialogProps) {
  const [password, setPassword] = useState("");
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <Form submit={props.submit} isDangerous onSubmit={() => props.onSubmit(password)}>
        <p>{props.text}</p>
        <CurrentPasswordField value={password} onChange={setPassword} />
      </Form>
    </Dialog>
  );
}
