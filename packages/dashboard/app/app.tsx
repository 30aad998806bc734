import { createContext, lazy, Suspense, useCallback, useEffect, useState } from "react";
import { announceEntry, callApi, whenSignedOut } from "./api.ts";
import { Console } from "./console.tsx";
import { SignIn } from "./pages/entry/sign-in.tsx";
import { Alone } from "./parts/alone.tsx";
import { Cover } from "./parts/cover.tsx";
import { Failure, Loading } from "./parts/states.tsx";
import { goTo, usePath } from "./router.tsx";
import { ShellSkeleton } from "./shell.tsx";

export interface Account {
  id: string;
  email: string;
  tier: string;
  /** False for an account made by an invitation, until the operator sets its tier. */
  mayOwnProjects: boolean;
  ownsInstallation: boolean;
}

/** For pages that change it: every page shows the signed-in account. */
export const ReloadAccount = createContext(() => {});

/** Pages that a link from outside leads to. */
const Claim = lazy(() => import("./pages/entry/claim.tsx"));
const Join = lazy(() => import("./pages/entry/join.tsx"));

export function App() {
  const path = usePath();
  const Entry = path === "/claim" ? Claim : path === "/join" ? Join : null;
  if (Entry === null) return <Gate />;
  return (
    <Suspense fallback={<Loading />}>
      <Entry onEntered={() => goTo("/", { replace: true })} />
    </Suspense>
  );
}

/** Signed in or not is the server's word alone: the cookie is out of reach for scripts. */
function Gate() {
  const [account, setAccount] = useState<Account | null>(null);
  const [isOut, setOut] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const look = useCallback(async () => {
    setAccount((await callApi<{ account: Account }>("GET", "/session")).account);
    setOut(false);
  }, []);
  const tryToLook = useCallback(() => {
    setProblem(null);
    look().catch(setProblem);
  }, [look]);
  useEffect(() => {
    whenSignedOut(() => setOut(true));
    tryToLook();
  }, [tryToLook]);
  const signIn = (isAgain: boolean) => (
    <SignIn
      isAgain={isAgain}
      onEntered={async () => {
        await look();
        announceEntry();
      }}
    />
  );
  if (account === null) {
    if (isOut) return signIn(false);
    if (problem === null) return <ShellSkeleton />;
    return (
      <Alone>
        <Failure error={problem} retry={tryToLook} />
      </Alone>
    );
  }
  return (
    <ReloadAccount value={tryToLook}>
      {/* Whoever comes back finds what they had typed; nobody else does. */}
      <Console key={account.id} account={account} />
      {isOut && <Cover>{signIn(true)}</Cover>}
    </ReloadAccount>
  );
}
