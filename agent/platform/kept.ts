/** A look that is too costly for each time: its answer is kept for a while. */
export function kept<T>(look: () => Promise<T>, keptMs: number): () => Promise<T> {
  let last: { readonly answer: Promise<T>; readonly at: number } | undefined;
  return () => {
    if (!last || performance.now() - last.at >= keptMs) last = { answer: look(), at: performance.now() };
    return last.answer;
  };
}
