/** From anywhere in the page of files to the terminals beside them: by the key that leads from there to the files. */
import { useEffect, useEffectEvent } from "react";
import { commandOf } from "../terminal/keys.ts";

export function useFilesKey(act: () => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || commandOf(event, false) !== "files") return;
    if (document.querySelector("[aria-modal='true']")) return;
    event.preventDefault();
    act();
  });
  useEffect(() => {
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
