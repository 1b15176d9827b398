/** The nonce of this page's styles: libraries that add `<style>` elements by themselves get it too. */

/** As the relay wrote it into the page. */
export const NONCE = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";

const create = document.createElement.bind(document);

document.createElement = ((name: string, options?: ElementCreationOptions) => {
  const element = create(name, options);
  if (element instanceof HTMLStyleElement) element.nonce = NONCE;
  return element;
}) as typeof document.createElement;
