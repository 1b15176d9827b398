/** Hands a file to the person, as the browser saves files. */

/** How long a browser may take to begin, in milliseconds. */
const KEPT = 60_000;

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT);
}
