import { findBackend } from "../../../agent/sandbox/find-backend.ts";
import { lackOf } from "../../../agent/sandbox/probe.ts";
import { needs } from "../../helpers/parts.ts";

const lack = await lackOf(findBackend({}, true));

/** Options of a test that runs commands in a real sandbox. */
export const NEEDS_SANDBOX = needs(
  lack === undefined,
  `the sandbox does not work: ${lack?.why}. ${lack?.help}`,
);
