import { createContext, lazy, Suspense, useEffect, useState } from "react";
import { whenSignedOut } from "./api.ts";
import { Console } from "./console.tsx";
import { useLoad } from "./load.ts";
import { SignIn } from "./pages/entry/sign-in.tsx";
import { Alone } from "./parts/alone.tsx";
import { Failure, Loading } from "./parts/states.tsx";
import { goTo, usePath } from "./router.tsx";

export interface Account {
  id: string;
  email: string;
  tier: string;
  ownsInstallation: boolean;
}

/** For a page that changes it: who is signed in is shown beside every page. */
export const ReloadAccount = createContext(() => {});

/** Pages that a link from outside leads to. */
const Claim = lazy(() => import("./pages/entry/claim.tsx"));
const Join = lazy(() => import("./pages/entry/join.tsx"));

export function App() {
  const path = usePath();
  const [entered, setEntered] = useState(0);
  const enter = () => {
    setEntered((times) => times + 1);
    goTo("/", { replace: true });
  };
  const Entry = path === "/claim" ? Claim : path === "/join" ? Join : null;
  if (Entry !== null) {
    return (
      <Suspense fallback={<Loading />}>
        <Entry onEntered={enter} />
      </Suspense>
    );
  }
  return <Gate key={entered} onEntered={() => setEntered((times) => times + 1)} />;
}

/** Signed in or not is the server's word alone: the cookie is out of reach for scripts. */
function Gate({ onEntered }: { onEntered: () => void }) {
  const session = useLoad<{ account: Account }>("/session");
  const [isOut, setOut] = useState(false);
  useEffect(() => whenSignedOut(() => setOut(true)), []);
  if (isOut) return <SignIn onEntered={onEntered} />;
  if (session.error !== null) {
    return (
      <Alone>
        <Failure error={session.error} retry={session.reload} />
      </Alone>
    );
  }
  if (session.data === null) return <Loading />;
  return (
    <ReloadAccount value={session.reload}>
      <Console account={session.data.account} />
    </ReloadAccount>
  );
}
