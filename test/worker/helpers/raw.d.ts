/** Files as text (Vite). */
declare module "*?raw" {
  const text: string;
  export default text;
}
