import type { AccountId } from "@matrx/shared/ids.ts";
import { makeRecoveryCode, readRecoveryCode, recoveryCodeText } from "@matrx/shared/recovery-code.ts";
import { expect, it } from "vitest";

it("every code that is made is read as it was, in capitals, in small letters, and without dashes", () => {
  for (const account of ["owner", "a-b_c", "0".repeat(64)] as AccountId[])
    for (let n = 0; n < 100; n++) {
      const code = makeRecoveryCode(account);
      const text = recoveryCodeText(code);
      const secret = text.slice(text.indexOf("."));
      for (const typed of [text, text.toLowerCase(), ` ${text} \n`, account + secret.replaceAll("-", " ")])
        expect(readRecoveryCode(typed)).toEqual(code);
    }
});

it.each([
  "",
  ".",
  "owner",
  "owner.",
  "owner.7K2M-9Q4X-HV8T",
  "owner.7K2M-9Q4X-HV8T-5W1R0",
  "owner.7K2M-9Q4X-HV8T-5W1U",
  "owner..7K2M-9Q4X-HV8T-5W1R",
  "7K2M-9Q4X-HV8T-5W1R",
  "../owner.7K2M-9Q4X-HV8T-5W1R",
  `${"0".repeat(65)}.7K2M-9Q4X-HV8T-5W1R`,
])("%j is none", (text) => {
  expect(readRecoveryCode(text)).toBeUndefined();
});
