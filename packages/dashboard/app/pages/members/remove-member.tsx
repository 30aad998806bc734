import { callApi } from "../../api.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import type { Role } from "./roles.tsx";

export interface Member {
  accountId: string;
  email: string;
  emailVerified: boolean;
  role: Role;
  paysForProject: boolean;
  since: string;
}

interface RemoveMemberProps {
  member: Member;
  isSelf: boolean;
  path: string;
  onRemoved: () => void;
  onClose: () => void;
}

export function RemoveMember({ member, isSelf, path, onRemoved, onClose }: RemoveMemberProps) {
  const submit = async () => {
    await callApi("DELETE", path);
    if (isSelf) {
      location.assign("/dashboard");
      return;
    }
    onRemoved();
    onClose();
  };
  return (
    <Dialog title={isSelf ? "Leave the project" : "Remove member"} onClose={onClose}>
      <Form submit={isSelf ? "Leave" : "Remove"} isDangerous onSubmit={submit}>
        {isSelf ? (
          <p>You will lose access to this project. Only an owner can invite you again.</p>
        ) : (
          <p>
            <SafeText text={member.email} /> loses access to this project on the next request. API keys they
            know keep working until you revoke them.
          </p>
        )}
      </Form>
    </Dialog>
  );
}
