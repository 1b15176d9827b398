/** Files as text (Vite). */
declare module "*?raw" {
  const text: string;
  export default text;
}

/** Vite's own. */
interface ImportMeta {
  readonly env: { readonly MODE: string };
}
