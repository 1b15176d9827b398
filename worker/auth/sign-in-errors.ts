/** Refusals of passkeys and recovery codes. Each says the same whatever was wrong, which tells nothing about an account. */
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { unauthenticated } from "./keys.ts";

export function unusablePasskeyError(): MatrxError {
  return new MatrxError(
    unauthenticated(
      "This passkey signs nobody in here",
      "Try once more: a passkey must be used within 5 minutes. Or use another one, a sign-in link or a recovery code",
    ),
  );
}

export function unusableRecoveryCodeError(): MatrxError {
  return new MatrxError(
    unauthenticated(
      "This recovery code signs nobody in here",
      "Check each character; a code works once, and not any more once new ones were made",
    ),
  );
}

/** To a signed-in person, whose session goes on. */
export function unacceptablePasskeyError(): MatrxError {
  return relayError("INVALID_PARAMETERS", "This passkey was not made for this session and page just now", {
    hint: "Begin again with POST /v1/passkeys/options; each state works once, within 5 minutes",
  });
}
