/** The frame of a page: its title, what can be done with it, and its content. */
import { type ReactNode, useEffect } from "react";
import classes from "./Page.module.css";
import { usePageTitle } from "./page-title.ts";

interface Props {
  readonly title: string;
  /** A sentence below the title. */
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, about, actions, children }: Props) {
  useEffect(() => {
    usePageTitle.setState({ title });
  }, [title]);
  return (
    <div className={classes.page}>
      <div className={classes.top}>
        <div className={classes.words}>
          <h1 tabIndex={-1} id="page-title" className={classes.title}>
            {title}
          </h1>
          {about && <p className={classes.about}>{about}</p>}
        </div>
        {actions && <div className={classes.actions}>{actions}</div>}
      </div>
      {children}
    </div>
  );
}
