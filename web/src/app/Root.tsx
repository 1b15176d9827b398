/** Who is signed in decides what is shown: the app, or the ways to sign in. */
import { Loader } from "@mantine/core";
import { lazy, Suspense } from "react";
import { Shell } from "../shell/Shell.tsx";
import { Problem } from "../ui/Problem.tsx";
import classes from "./Root.module.css";
import { useAccount, useAccountConnection } from "./use-account.ts";

const SignIn = lazy(() =>
  import("../features/sign-in/SignInPage.tsx").then(({ SignInPage }) => ({ default: SignInPage })),
);

export function Root() {
  const { data: account, error, refetch } = useAccount();
  useAccountConnection(account?.account);
  if (account) return <Shell />;
  return (
    <div className={classes.alone}>
      {account === null ? (
        <Suspense fallback={<Loader />}>
          <SignIn />
        </Suspense>
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Loader />
      )}
    </div>
  );
}
