/** Files of ours that stand beside others while those are written, and for a time if that is broken off. */
const UNFINISHED = /^\.matrx-(?:(?:upload_[0-9a-z]+|[0-9a-f]{24})\.part|[0-9a-f]{16}\.tmp)$/;

/** Whether a name is that of one: whoever copies a folder does not mean it. */
export function isUnfinished(name: string): boolean {
  return UNFINISHED.test(name);
}
