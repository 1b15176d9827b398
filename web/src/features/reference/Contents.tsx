/** Links to the operations: beside them, or on a small screen above them, folded. */
import { useMediaQuery } from "@mantine/hooks";
import { Fold } from "../../ui/Fold.tsx";
import type { Group } from "./operations.ts";
import classes from "./Reference.module.css";
import { showOperation } from "./use-addressed.ts";
import { Words } from "./Words.tsx";

export function Contents({ groups }: { groups: readonly Group[] }) {
  const isWide = useMediaQuery("(min-width: 1100px)", undefined, { getInitialValueInEffect: false });
  const title = <h2 id="contents">Contents</h2>;
  return (
    <nav className={classes.contents} aria-labelledby="contents">
      {isWide ? (
        <>
          {title}
          <Links groups={groups} />
        </>
      ) : (
        <Fold title={title}>{() => <Links groups={groups} />}</Fold>
      )}
    </nav>
  );
}

function Links({ groups }: { groups: readonly Group[] }) {
  return groups.map(({ name, operations }) => (
    <div key={name}>
      <h3>
        <Words text={name} />
      </h3>
      <ul>
        {operations.map(({ id, summary = id }) => (
          <li key={id}>
            {/* The address may name it already. */}
            <a href={`#${encodeURIComponent(id)}`} onClick={() => showOperation(id)}>
              <Words text={summary} />
            </a>
          </li>
        ))}
      </ul>
    </div>
  ));
}
