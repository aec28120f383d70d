/** Resolves at the first SIGINT or SIGTERM, or when the parent goes away; a second signal ends the process at once. */
export function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    let stopping = false;
    const onSignal = (name: string) => (): void => {
      if (stopping) process.exit(130);
      stopping = true;
      resolve(name);
    };
    process.on('SIGTERM', onSignal('SIGTERM'));
    // Ctrl-C reaches the whole process group: a role under a supervisor waits for the supervisor's word.
    if (process.env.OUTRIDER_ROLE_CHILD === '1') process.on('SIGINT', () => undefined);
    else process.on('SIGINT', onSignal('SIGINT'));
    if (process.channel !== undefined && process.channel !== null)
      process.on('disconnect', () => !stopping && onSignal('parent gone')());
  });
}
