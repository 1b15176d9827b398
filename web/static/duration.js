/** How long something takes, as people say it. Milliseconds come in. */

export function clock(ms) {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** As exact as it is of use. */
export function duration(ms) {
  return ms < 10_000 ? `${Math.round(ms)} ms` : clock(ms);
}
