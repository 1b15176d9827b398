/** `1 line`, `2 lines`. Give `many` if it is not `one` with an s. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
