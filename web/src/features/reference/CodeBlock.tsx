/** Code to be read, in its own lines, with a name. */
import classes from "./Reference.module.css";

export function CodeBlock({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form
    <pre className={classes.code} role="group" aria-label={label}>
      <bdi>{text}</bdi>
    </pre>
  );
}
