/** The files of this project share a runtime: each leaves it without data. */
import { reset } from "cloudflare:test";
import { afterAll } from "vitest";

afterAll(reset);
