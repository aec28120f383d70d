// A role for tests of the supervisor, small enough to be started many times. It says that it is ready, then does as told:
// runs, falls silent, or ends with a code as soon as it has been answered.
const [what = 'run', code = '0'] = process.argv.slice(2);
const say = (message: object): void => void process.send?.(message);

process.on('message', () => {
  if (what === 'exit') process.exit(Number(code));
});
process.on('SIGTERM', () => process.exit(0));
say({ type: 'ready', address: null });
if (what === 'run') setInterval(() => say({ type: 'beat', loops: [{ name: 'lease', turns: 7 }] }), 50);
