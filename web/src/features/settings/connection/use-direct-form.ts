/** The state of the form for the direct connection, and what of it this browser keeps. */
import { useState } from "react";
import { localOrigin, pastedToken, WRONG_ADDRESS } from "../../../direct/address.ts";
import { connect, tokenInUse } from "../../../direct/connection.ts";
import { keepDirect, keptDirect } from "../../../direct/kept.ts";
import { endDirect, USUAL_ADDRESS, useDirect } from "../../../direct/local.ts";

interface Choices {
  readonly isAutomatic: boolean;
  readonly isTokenKept: boolean;
}

export function useDirectForm() {
  const [kept] = useState(keptDirect);
  const inUse = useDirect(({ state, address: used }) => (state === "off" ? undefined : used));
  const [address, setAddress] = useState(inUse ?? kept?.address ?? USUAL_ADDRESS);
  const [isWrong, setWrong] = useState(false);
  const [token, setToken] = useState("");
  const [choices, setChoices] = useState<Choices>({
    isAutomatic: kept?.isAutomatic ?? true,
    isTokenKept: kept?.token !== undefined,
  });
  const keptToken = keptDirect()?.token;

  /** What is in use is kept as it is chosen, at once. */
  const choose = (next: Choices) => {
    setChoices(next);
    if (inUse !== undefined) return keep(inUse, tokenInUse(), next);
    const before = keptDirect();
    if (!before) return;
    const { token: keptBefore, ...others } = before;
    const isKept = next.isTokenKept && keptBefore !== undefined;
    keepDirect({ ...others, isAutomatic: next.isAutomatic, ...(isKept && { token: keptBefore }) });
  };
  return {
    address,
    token,
    ...choices,
    hasKeptToken: keptToken !== undefined,
    addressError: isWrong ? WRONG_ADDRESS : undefined,
    setAddress: (text: string) => {
      setWrong(false);
      setAddress(text);
    },
    setToken,
    setAutomatic: (isAutomatic: boolean) => choose({ ...choices, isAutomatic }),
    keepToken: (isTokenKept: boolean) => choose({ ...choices, isTokenKept }),
    /** False: the address is none of a local server. */
    connect: () => {
      const origin = localOrigin(address);
      setWrong(origin === undefined);
      if (origin === undefined) return false;
      const used = pastedToken(token) || (keptToken ?? "");
      setAddress(origin);
      setToken("");
      keep(origin, used, choices);
      void connect({ address: origin, token: used });
      return true;
    },
    disconnect: () => {
      const needsToken = tokenInUse() !== "";
      endDirect();
      keepDirect({
        ...{ address: inUse ?? address, needsToken },
        ...{ isAutomatic: choices.isAutomatic, isWanted: false },
      });
      setChoices({ ...choices, isTokenKept: false });
    },
  };
}

function keep(address: string, token: string, { isAutomatic, isTokenKept }: Choices): void {
  const needsToken = token !== "";
  keepDirect({
    address,
    needsToken,
    isAutomatic,
    isWanted: true,
    ...(isTokenKept && needsToken && { token }),
  });
}
