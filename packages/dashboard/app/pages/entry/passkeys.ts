import { ApiError, callApi } from "../../api.ts";

type Options<T> = { options: T; ticket: string };

/** Browsers offer passkeys only on pages that were opened by name, over https or on this very machine. */
export function canUsePasskeys(): boolean {
  const isAddress = /^[\d.]+$/.test(location.hostname) || location.hostname.startsWith("[");
  return "PublicKeyCredential" in window && !isAddress;
}

/** The library comes when it is needed, not with the first page. */
const loadLibrary = () => import("@simplewebauthn/browser");

export async function signInWithPasskey(): Promise<void> {
  const { startAuthentication } = await loadLibrary();
  const { options, ticket } = await callApi<
    Options<Parameters<typeof startAuthentication>[0]["optionsJSON"]>
  >("POST", "/sign-in/passkey/options");
  const response = await startAuthentication({ optionsJSON: options }).catch(notDone);
  await callApi("POST", "/sign-in/passkey", { ticket, response });
}

export async function createPasskey(currentPassword: string, name: string): Promise<void> {
  const { startRegistration } = await loadLibrary();
  const { options, ticket } = await callApi<Options<Parameters<typeof startRegistration>[0]["optionsJSON"]>>(
    "POST",
    "/account/passkeys/options",
    { currentPassword },
  );
  const response = await startRegistration({ optionsJSON: options }).catch(notDone);
  await callApi("POST", "/account/passkeys", { ticket, name, response });
}

/** Cancelled, timed out or rejected by the device: browsers don't say which. */
function notDone(error: unknown): never {
  const isKnown = error instanceof Error && error.name === "InvalidStateError";
  throw new ApiError(
    0,
    isKnown ? "This device is already registered." : "The passkey request was cancelled or failed.",
    isKnown ? "" : "Try again, or use your password.",
  );
}
