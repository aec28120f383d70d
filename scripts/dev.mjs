// npm run dev: compiles on every change and restarts `outrider up` with what came out. Ctrl-C ends both.
// Arguments after -- go to `up`: npm run dev -- --port 9000
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tsc = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');
const main = join(root, 'dist', 'src', 'cli', 'main.js');
// What the compiler says when a round is over; nothing is restarted while there are errors.
const compiled = /Found (\d+) errors?\. Watching for file changes/;

const compiler = spawn(
  process.execPath,
  [tsc, '-p', join(root, 'tsconfig.json'), '--watch', '--preserveWatchOutput', '--pretty', 'false'],
  { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], detached: true },
);
let engine = null;
let stopping = false;
let turn = Promise.resolve();

const say = (text) => console.log(`\u001b[2m[dev] ${text}\u001b[0m`);
const isRunning = (child) => child !== null && child.exitCode === null && child.signalCode === null;

async function end(child) {
  if (!isRunning(child)) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

// The compiler is a small script around a program of its own, which the script's end does not end.
function endCompiler() {
  if (isRunning(compiler)) process.kill(-compiler.pid, 'SIGTERM');
}

async function restart() {
  if (stopping) return;
  if (isRunning(engine)) {
    say('restarting');
    await end(engine);
  }
  if (stopping) return;
  // A group of its own: Ctrl-C must reach it through us, once, not through the terminal as well.
  const child = spawn(process.execPath, [main, 'up', ...process.argv.slice(2)], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  engine = child;
  child.on('exit', (code, signal) => {
    if (!stopping && engine === child && signal === null && code !== 0)
      say(`outrider ended with code ${code}; it is started again after the next change`);
  });
}

async function stop(code) {
  if (stopping) return;
  stopping = true;
  await turn;
  endCompiler();
  await end(engine);
  process.exit(code);
}

process.on('SIGINT', () => void stop(0));
process.on('SIGTERM', () => void stop(0));
compiler.on('exit', (code) => {
  if (!stopping) void stop(code ?? 1);
});
createInterface({ input: compiler.stdout }).on('line', (line) => {
  const round = compiled.exec(line);
  if (round === null) {
    if (line.trim() !== '') console.log(line);
  } else if (round[1] === '0') {
    turn = turn.then(restart);
  } else {
    say(`${round[1]} errors; outrider goes on with what it has`);
  }
});
