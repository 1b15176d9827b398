/** Who is signed in, and what a link asks for, decide what is shown: the app, or one of the pages at its door. */
import { Loader } from "@mantine/core";
import { useMatchRoute, useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useMemo } from "react";
import { followLink, goOnAfterSignIn, useLinks } from "../features/sign-in/links.ts";
import { Notices } from "../shell/Notices.tsx";
import { Questions } from "../shell/Questions.tsx";
import { Shell } from "../shell/Shell.tsx";
import classes from "./Root.module.css";
import { refreshAccount, useAccount, useAccountConnection } from "./use-account.ts";

const SignIn = lazy(async () => ({
  default: (await import("../features/sign-in/SignInPage.tsx")).SignInPage,
}));
const Invite = lazy(async () => ({
  default: (await import("../features/sign-in/InvitePage.tsx")).InvitePage,
}));
const ShareOffer = lazy(async () => ({
  default: (await import("../features/sign-in/ShareOfferPage.tsx")).ShareOfferPage,
}));
const SignedOutReference = lazy(async () => ({
  default: (await import("../features/reference/SignedOutReference.tsx")).SignedOutReference,
}));

const Problem = lazy(async () => ({ default: (await import("../ui/Problem.tsx")).Problem }));

export function Root() {
  const { data: account, error, refetch } = useAccount();
  const { isFollowing, invite, share } = useLinks();
  const ways = useWays();
  const { signedIn } = ways;
  const isReference = useMatchRoute()({ to: "/docs" }) !== false;
  useEffect(() => {
    const read = () => void refreshAccount();
    read();
    addEventListener("online", read);
    return () => removeEventListener("online", read);
  }, []);
  useEffect(() => {
    const follow = () => void followLink(ways);
    follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [ways]);
  const id = account?.account;
  useAccountConnection(isFollowing ? undefined : id);
  useEffect(() => {
    if (id !== undefined && !isFollowing) goOnAfterSignIn(ways);
  }, [id, isFollowing, ways]);

  if (isFollowing) return <Door>{<Loader />}</Door>;
  if (invite !== undefined)
    return (
      <Door>
        <Invite code={invite} account={account} signedIn={signedIn} />
      </Door>
    );
  if (account && share !== undefined)
    return (
      <Door>
        <ShareOffer code={share} accepted={signedIn} />
      </Door>
    );
  if (account) return <Shell />;
  if (account === null && isReference)
    return (
      <Suspense>
        <SignedOutReference />
      </Suspense>
    );
  if (account === null)
    return (
      <Door>
        <SignIn signedIn={signedIn} />
      </Door>
    );
  return <Door>{error ? <Problem error={error} retry={() => void refetch()} /> : <Loader />}</Door>;
}

/** A page before the app itself. */
function Door({ children }: { children: ReactNode }) {
  return (
    <div className={classes.door}>
      <Suspense fallback={<Loader />}>{children}</Suspense>
      <Notices />
      <Questions />
    </div>
  );
}

function useWays() {
  const navigate = useNavigate();
  return useMemo(
    () => ({
      signedIn: refreshAccount,
      toPairing: (code: string) => void navigate({ to: "/pair", hash: code }),
      toCall: (device: string, call: string) =>
        void navigate({ to: "/d/$device/calls/$call", params: { device, call } }),
    }),
    [navigate],
  );
}
