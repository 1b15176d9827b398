/** Who is signed in, and what a link asks for, decide what is shown: the app, or one of the pages at its door. */
import { useMatchRoute, useNavigate } from "@tanstack/react-router";
import {
  Activity,
  lazy,
  type ReactNode,
  Suspense,
  useDeferredValue,
  useEffect,
  useMemo,
  useState,
} from "react";
import { useTab } from "../base/tab-store.ts";
import { refreshAccount, takeSession, useAccount, useAccountConnection } from "../data/use-account.ts";
import { useDirectConnection } from "../direct/use-direct-connection.ts";
import {
  followLink,
  goOnAfterSignIn,
  type Links,
  takeWaitingCode,
  useLinks,
} from "../features/sign-in/links.ts";
import type { AccountView } from "../relay/account.ts";
import { Notices } from "../shell/Notices.tsx";
import { Questions } from "../shell/Questions.tsx";
import { Shell } from "../shell/Shell.tsx";
import { Door } from "./Door.tsx";
import { Splash } from "./Splash.tsx";

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
  const { data, error, refetch } = useAccount();
  const account = useDeferredAccount(data);
  const links = useLinks();
  const { isFollowing } = links;
  const ways = useWays();
  const isReference = useMatchRoute()({ to: "/docs" }) !== false;
  useEffect(() => {
    const read = () => void refreshAccount().catch(() => undefined);
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
  useDirectConnection(isFollowing ? undefined : id);
  useEffect(() => {
    if (id !== undefined && !isFollowing) goOnAfterSignIn(ways);
  }, [id, isFollowing, ways]);

  const door = doorFor({ links, account, error, retry: () => void refetch(), ways, isReference });
  return (
    <>
      {door}
      <KeptShell account={id} isShown={door === undefined} />
      <Notices />
      <Questions />
    </>
  );
}

/** Nothing is drawn of the account before the frame of the page is there. */
const NOT_YET = Symbol("not yet");

/**
 * The account, for what is drawn: a whole app comes in slices, so that a slow phone goes on answering its person, and nothing
 * stands between the first page and the sign-in page. Whoever is no longer signed in goes at once.
 */
function useDeferredAccount(now: AccountView | null | undefined): AccountView | null | undefined {
  const drawn = useDeferredValue<AccountView | null | undefined | typeof NOT_YET>(now, NOT_YET);
  if (drawn === NOT_YET) return undefined;
  const isGone = drawn && drawn.account !== now?.account;
  return isGone ? now : drawn;
}

interface AtTheDoor {
  readonly links: Links;
  readonly account: AccountView | null | undefined;
  readonly error: unknown;
  readonly retry: () => void;
  readonly ways: ReturnType<typeof useWays>;
  /** The reference is for everybody. */
  readonly isReference: boolean;
}

/** Undefined: the app itself is shown. */
function doorFor({ links, account, error, retry, ways, isReference }: AtTheDoor): ReactNode {
  const { isFollowing, invite, share } = links;
  if (isFollowing)
    return (
      <Door>
        <Splash />
      </Door>
    );
  if (invite !== undefined)
    return (
      <Door>
        <Invite code={invite} account={account} signedIn={ways.cameIn} />
      </Door>
    );
  if (account && share !== undefined)
    return (
      <Door>
        <ShareOffer code={share} />
      </Door>
    );
  if (account) return undefined;
  if (account === null && isReference)
    return (
      <Suspense>
        <SignedOutReference />
      </Suspense>
    );
  if (account === null)
    return (
      <Door>
        <SignIn signedIn={ways.signedIn} />
      </Door>
    );
  return <Door>{error ? <Problem error={error} retry={retry} /> : <Splash />}</Door>;
}

interface KeptShellProps {
  readonly account: string | undefined;
  readonly isShown: boolean;
}

/**
 * The app. While its person has to sign in again it waits unseen, with all that was typed; whoever signs out, or is signed in
 * next, finds nothing of it.
 */
function KeptShell({ account, isShown }: KeptShellProps) {
  const forgotten = useTab((tab) => tab.forgotten);
  const now = account === undefined ? undefined : `${account} ${forgotten}`;
  const [last, setLast] = useState(now);
  if (now !== undefined && now !== last) setLast(now);
  const kept = now ?? last;
  if (!kept?.endsWith(` ${forgotten}`)) return null;
  return (
    <Activity key={kept} mode={isShown ? "visible" : "hidden"}>
      <Shell />
    </Activity>
  );
}

function useWays() {
  const navigate = useNavigate();
  return useMemo(
    () => ({
      signedIn: () => {
        takeWaitingCode();
        return refreshAccount();
      },
      /** A new account has none of the pages that were open here. */
      cameIn: () => takeSession(() => navigate({ to: "/fleet", replace: true })),
      toPairing: (code: string) => void navigate({ to: "/pair", hash: code }),
      toCall: (device: string, call: string) =>
        void navigate({ to: "/d/$device/calls/$call", params: { device, call } }),
    }),
    [navigate],
  );
}
