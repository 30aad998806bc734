import type { SigningKeys as Keys } from "@upstow/contract";
import { useState } from "react";
import { ApiError, callApi } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { useWorkspace } from "../../workspace.ts";

export function SigningKeys() {
  const { mayChange, environment } = useWorkspace();
  return (
    <>
      <h2>Webhook signing keys</h2>
      <p className="dim">
        Every delivery in the <strong>{environment}</strong> environment is signed with the current key. Add
        both keys to your endpoint: after a rotation, the next key becomes the current one.
      </p>
      {mayChange ? (
        <OwnKeys />
      ) : (
        <p className="dim">Only the project's developers and owners can see them.</p>
      )}
    </>
  );
}

function OwnKeys() {
  const { api } = useWorkspace();
  const path = `${api}/webhooks/signing-keys`;
  const loaded = useLoad<Keys>(path);
  const [isRotating, setRotating] = useState(false);
  if (loaded.error !== null) return <Failure error={loaded.error} retry={loaded.reload} />;
  if (loaded.data === null) return <Loading />;
  const done = () => {
    setRotating(false);
    loaded.reload();
  };
  return (
    <>
      <ul className="rows">
        <KeyRow label="Current" secret={loaded.data.current} />
        <KeyRow label="Next" secret={loaded.data.next} />
      </ul>
      <p className="more-space">
        <button type="button" onClick={() => setRotating(true)}>
          Rotate keys
        </button>
      </p>
      {isRotating && (
        <Dialog title="Rotate keys" onClose={() => setRotating(false)}>
          <Rotate path={`${path}/rotate`} onDone={done} />
        </Dialog>
      )}
    </>
  );
}

/** Shown only on request, to protect against shoulder surfing. */
function KeyRow({ label, secret }: { label: string; secret: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <li>
      <span className="grow">
        <strong>{label}</strong>
        <span className="mono name">{isShown ? secret : `${secret.slice(0, 10)}${"•".repeat(12)}`}</span>
      </span>
      <span className="line">
        <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? "Hide" : "Show"}
          <span className="visually-hidden"> the {label.toLowerCase()} key</span>
        </button>
        <CopyButton text={secret} of={`the ${label.toLowerCase()} key`} />
      </span>
    </li>
  );
}

function Rotate({ path, onDone }: { path: string; onDone: () => void }) {
  const [mustForce, setMustForce] = useState(false);
  const rotate = async () => {
    try {
      await callApi("POST", path, { force: mustForce });
    } catch (problem) {
      // Already rotated within a day. Don't force it after a lost response: that rotation may have succeeded.
      if (problem instanceof ApiError && problem.status === 400) setMustForce(true);
      throw problem;
    }
    onDone();
  };
  return (
    <Form submit={mustForce ? "Rotate anyway" : "Rotate now"} isDangerous={mustForce} onSubmit={rotate}>
      <p>
        The next key becomes the current one, and a new next key is created. For a day, deliveries are also
        signed with the old key, in the Standard Webhooks header.
      </p>
    </Form>
  );
}
