const day = 86_400;

const parts = (isUtc: boolean) => (isUtc ? { timeZone: 'UTC' } : {});
const clock = (isUtc: boolean) =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', ...parts(isUtc) });
const date = (isUtc: boolean) =>
  new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', ...parts(isUtc) });
const whole = (isUtc: boolean) =>
  new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...parts(isUtc),
  });

// Making a formatter takes longer than using it a hundred times.
const made = [false, true].map((isUtc) => ({ clock: clock(isUtc), date: date(isUtc), whole: whole(isUtc) }));
const of = (isUtc: boolean) => made[Number(isUtc)]!;

/** A mark of the time axis, where the reader is or in UTC: hours within a day, days beyond. */
export function axisTime(seconds: number, span: number, isUtc: boolean): string {
  const at = new Date(seconds * 1000);
  const { clock, date } = of(isUtc);
  return span > 2 * day ? date.format(at) : clock.format(at);
}

/** A step as a row of a table or a legend names it. */
export function stepTime(seconds: number, isUtc: boolean): string {
  return `${of(isUtc).whole.format(new Date(seconds * 1000))}${isUtc ? ' UTC' : ''}`;
}
