/** Runs once before all tests; the embedded server for SQL tests is started here. */
export default function setup(): void {
  process.env.OUTRIDER_TEST = '1';
}
