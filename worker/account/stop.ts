/** Stop everything: a person pauses the account and resumes it; all devices and open screens are told. */
import type { GrantId } from "@matrx/shared/ids.ts";
import type { PauseView } from "@matrx/shared/pause-api.ts";
import { attempt, type Outcome } from "../outcome.ts";
import type { AccountContext } from "./context.ts";

export class Stop {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** Holds once it is stored here; a device that cannot be reached is told again until it confirms. */
  setPaused(person: GrantId, paused: boolean): Promise<Outcome<PauseView>> {
    return attempt(async () => {
      const { pause, devices, record } = this.#context;
      const by = this.#context.person(person);
      if (!pause.set(paused, by.name, Date.now())) return this.#context.pauseView();
      record.note({ type: "pause", paused }, by);
      const all = devices.list().map(({ id }) => id);
      const told = this.#context.tell(all, { type: "pause" });
      this.#tellScreens();
      await told;
      this.#tellScreens();
      return this.#context.pauseView();
    });
  }

  read(person: GrantId): Promise<Outcome<PauseView>> {
    return attempt(() => {
      this.#context.person(person);
      return this.#context.pauseView();
    });
  }

  #tellScreens(): void {
    this.#context.people.tell({ type: "paused", pause: this.#context.pauseView() }, Date.now());
  }
}
