/** Which engine searches here: ripgrep where there is one that runs, else this program itself. */
import type { Engine } from "./engine.ts";
import { findRipgrep, type RipgrepPlaces } from "./find-ripgrep.ts";
import { javascriptEngine } from "./javascript.ts";
import { ripgrepEngine } from "./ripgrep.ts";

/** Looks once, when it is first asked. */
export class SearchEngines {
  readonly #places: RipgrepPlaces | undefined;
  #engine: Promise<Engine> | undefined;

  constructor(places?: RipgrepPlaces) {
    this.#places = places;
  }

  best(): Promise<Engine> {
    this.#engine ??= findRipgrep(this.#places).then((ripgrep) =>
      ripgrep ? ripgrepEngine(ripgrep) : javascriptEngine,
    );
    return this.#engine;
  }
}
