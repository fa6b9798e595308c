const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** Formats a moment as a distance from now, such as `3 minutes ago` or `in 2 hours`. */
export function relativeTime(timestamp: string, now: number): string {
  const seconds = Math.round((now - Date.parse(timestamp)) / 1_000);
  const distance = Math.abs(seconds);
  const unit = units.find(([, size]) => distance >= size);
  if (!unit) return distance < 5 ? 'now' : directed(`${distance} seconds`, seconds);
  const count = Math.floor(distance / unit[1]);
  return directed(`${count} ${unit[0]}${count === 1 ? '' : 's'}`, seconds);
}

function directed(distance: string, seconds: number): string {
  return seconds < 0 ? `in ${distance}` : `${distance} ago`;
}
