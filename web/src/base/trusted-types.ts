/**
 * The page's only Trusted Types policy. React and the libraries put no markup into the page as text, but styles they do:
 * those pass, and whatever could hold an element does not. Scripts for workers come from this origin alone.
 */

interface PolicyFactory {
  createPolicy(
    name: string,
    rules: { createHTML(text: string): string; createScriptURL(url: string): string },
  ): unknown;
}

const { trustedTypes } = globalThis as { trustedTypes?: PolicyFactory };

trustedTypes?.createPolicy("default", {
  createHTML(text) {
    if (text.includes("<")) throw new TypeError("Markup as text has no place in this page");
    return text;
  },
  createScriptURL(url) {
    if (new URL(url, location.href).origin !== location.origin)
      throw new TypeError("Scripts come from this origin alone");
    return url;
  },
});
