/** An instant, and how far the clock of whoever wrote it is ahead of UTC; null: no zone was named. */
export type Moment = { date: Date; offsetMinutes: number | null };

const MINUTE_MS = 60_000;

/**
 * An instant as text, by the clock of whoever wrote it: its first ten characters are the day that readers of the page
 * see, which in UTC is another one on every fortieth page.
 */
export function writeMoment(date: Date, offsetMinutes: number | null): string {
  if (offsetMinutes === null || offsetMinutes === 0) return date.toISOString();
  const local = new Date(date.getTime() + offsetMinutes * MINUTE_MS).toISOString().slice(0, -1);
  const [hours, minutes] = [Math.floor(Math.abs(offsetMinutes) / 60), Math.abs(offsetMinutes) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return `${local}${offsetMinutes < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`;
}
