/** A folder in which somebody wants a terminal, as they leave for the page of terminals. No address of a page can open one. */
let wish: { readonly device: string; readonly folder: string } | undefined;

export function wishTerminal(device: string, folder: string): void {
  wish = { device, folder };
}

/** Once; undefined: nobody wants one there. */
export function takeWish(device: string): string | undefined {
  if (wish?.device !== device) return undefined;
  const { folder } = wish;
  wish = undefined;
  return folder;
}
