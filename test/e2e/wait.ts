/** Asks until the answer is true; the error says what was waited for and what was seen last. */
export async function waitUntil(
  what: string,
  check: () => Promise<boolean | string> | boolean | string,
  deadlineMs = 60_000,
): Promise<void> {
  const until = performance.now() + deadlineMs;
  for (;;) {
    const answer = await check();
    if (answer === true) return;
    if (performance.now() > until) throw new Error(`gave up waiting until ${what}: ${String(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
