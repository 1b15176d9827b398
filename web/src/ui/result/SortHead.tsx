/** The head of a table's column, which sorts by it. */
import { UnstyledButton } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import classes from "./TableView.module.css";

export interface Order<Column extends string = string> {
  readonly column: Column;
  readonly isDown: boolean;
}

interface Props<Column extends string> {
  readonly column: Column;
  readonly label: string;
  /** Its cells stand at their end. */
  readonly isNumber: boolean;
  readonly order: Order<Column> | undefined;
  /** What is sorted by it first has the highest on top. */
  readonly isDownFirst?: boolean;
  readonly className?: string | undefined;
  readonly sort: (order: Order<Column>) => void;
}

export function SortHead<Column extends string>({
  column,
  label,
  isNumber,
  order,
  isDownFirst = false,
  className,
  sort,
}: Props<Column>) {
  const isSorted = order?.column === column;
  const isDown = isSorted && order.isDown;
  const Arrow = isDown ? IconArrowDown : IconArrowUp;
  return (
    <th
      scope="col"
      className={className}
      aria-sort={isSorted ? (isDown ? "descending" : "ascending") : "none"}
    >
      <UnstyledButton
        className={classes.sort}
        data-number={isNumber}
        onClick={() => sort({ column, isDown: isSorted ? !isDown : isDownFirst })}
      >
        <bdi>{label}</bdi>
        {isSorted && <Arrow size={14} aria-hidden />}
      </UnstyledButton>
    </th>
  );
}
