/** Storage errors of an object, worded for callers. The relay is at fault, not the device. */
import { type ErrorShape, MatrxError, relayError } from "@matrx/shared/errors.ts";

/** `details.storage` of an error caused by the relay's storage. */
export type StorageState = "full" | "damaged" | "newer" | "lost" | "failed";

/** A marker in the message: the message is all that is left of an error when it reaches the Worker. */
const NEWER = "MATRX_NEWER_DATA";

const RESTORE = "Restore the relay's data from a backup; its log says more";

/** What the messages of SQLite and workerd mean. Why it could not open a database, workerd doesn't say: a full disk is one reason. */
const SIGNS: readonly [RegExp, StorageState, string, string][] = [
  [
    /\bSQLITE_FULL\b/,
    "full",
    "The relay cannot write: its disk is full",
    "Free some space on the relay's disk; meanwhile calls that only read still work",
  ],
  [
    new RegExp(`\\b${NEWER}\\b`),
    "newer",
    "The relay's data was written by a newer version of the relay; this one leaves it untouched",
    "Update the relay to the version that wrote it, or restore its data from a backup of before; calls work again then",
  ],
  [/\bSQLITE_(?:CORRUPT|NOTADB)\b/, "damaged", "The relay's stored data is damaged", RESTORE],
  [
    /\bSQLITE_(?:IOERR|READONLY|CANTOPEN|PERM)\b/,
    "failed",
    "The relay cannot use its storage",
    "Check the relay's disk and the permissions of its data folder; its log says more",
  ],
  [
    /^internal error; reference = \w+$/,
    "failed",
    "The relay could not open its stored data, which may be damaged",
    `Try again. If it happens again: free some space if the relay's disk is full, else ${RESTORE[0]?.toLowerCase()}${RESTORE.slice(1)}`,
  ],
];

/** The refusal for a storage error; undefined for any other error. */
export function storageFailure(error: unknown): ErrorShape | undefined {
  if (!(error instanceof Error) || error instanceof MatrxError) return undefined;
  const sign = SIGNS.find(([pattern]) => pattern.test(error.message));
  if (!sign) return undefined;
  const [, storage, message, hint] = sign;
  return { code: "UNAVAILABLE", message, hint, hop: "relay", details: { storage } };
}

/** An object's data has a version that this program does not know. A plain Error, because the object's constructor throws it. */
export function newerDataError(version: number, known: number): Error {
  return new Error(`the data is of version ${version}, and this relay knows up to ${known}: ${NEWER}`);
}

/** The account has the device, but its object's data is gone. */
export function lostRecordError(device: string): MatrxError {
  return relayError(
    "UNAVAILABLE",
    `The relay's data about the device ${device.slice(0, 64)} is gone: its database was damaged or emptied`,
    {
      hint: "Restore the relay's data from a backup; or remove the device, add it again, and set its policy again",
      details: { storage: "lost" satisfies StorageState },
    },
  );
}
