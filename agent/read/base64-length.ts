/** Characters of so many bytes as base64. */
export function base64Length(bytes: number): number {
  return 4 * Math.ceil(bytes / 3);
}
