import { closeReason, isSendable } from "@matrx/shared/close-codes.ts";
import { expect, test } from "vitest";

test("codes that a peer may send and that may not be sent back are known", () => {
  for (const code of [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535])
    expect(isSendable(code), `${code}`).toBe(false);
  for (const code of [1000, 1001, 1009, 1013, 3000, 4403, 4999])
    expect(isSendable(code), `${code}`).toBe(true);
});

test("a reason fits into a close frame, whatever it is made of", () => {
  for (const char of ["x", "é", "€", "🚀"])
    expect(new TextEncoder().encode(closeReason(char.repeat(200))).length).toBeLessThanOrEqual(123);
  expect(closeReason("The token was revoked")).toBe("The token was revoked");
});
