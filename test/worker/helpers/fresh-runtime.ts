/** The files of this project share a runtime: each leaves it without data, and without what the Worker itself had counted. */
import { reset } from "cloudflare:test";
import { afterAll } from "vitest";
import { forgetRefusals } from "../../../worker/access/refused-credentials.ts";

afterAll(forgetRefusals);
afterAll(reset);
