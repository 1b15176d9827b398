/**
 * What a browser is sent by web push, as JSON. Others may read it on a locked screen: it names the machine, the tool and
 * what happened, and nothing that a call was asked or answered.
 */
import type * as z from "zod";
import type { approvalStateSchema } from "./approval.ts";

export type PushMessage =
  /** A call waits for a decision; any other state: it no longer does. */
  | {
      readonly kind: "approval";
      readonly state: z.infer<typeof approvalStateSchema>;
      readonly approval: string;
      readonly device: string;
      readonly machine: string;
      readonly tool: string;
      /** Only somebody at the machine can decide. */
      readonly at_machine: boolean;
    }
  /** An event that warns. `event_type` is the machine's own word. */
  | {
      readonly kind: "alert";
      readonly device: string;
      readonly machine: string;
      readonly event_type: string;
      readonly severity: "warning" | "critical";
    }
  /** A long call has ended. */
  | {
      readonly kind: "finished";
      readonly device: string;
      readonly machine: string;
      readonly call: string;
      readonly tool: string;
      readonly status: "success" | "error" | "unknown";
    }
  | { readonly kind: "test" };
