import { Failure } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { canUsePasskeys, signInWithPasskey } from "./passkeys.ts";

/** Shown only where the browser can use one. */
export function PasskeyButton({ onEntered }: { onEntered: () => Promise<void> | void }) {
  const { error, isBusy, run } = useAction();
  if (!canUsePasskeys()) return null;
  const enter = () =>
    run(async () => {
      await signInWithPasskey();
      await onEntered();
    });
  return (
    <>
      <button type="button" className="wide" disabled={isBusy} onClick={() => void enter()}>
        {isBusy ? "Waiting for the device…" : "Use a passkey"}
      </button>
      {error !== null && <Failure error={error} />}
    </>
  );
}
