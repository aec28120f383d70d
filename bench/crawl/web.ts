import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const publishers = 200;

/** One page to be read. */
export type BenchPage = { host: string; path: string; url: string };

/** The simulated web in a process of its own, whose CPU nobody counts. */
export type BenchWeb = {
  port: number;
  hostsFile: string;
  /** Equally many pages of every publisher, a page of each in turn. */
  pages: BenchPage[];
  /** Addresses by host name. */
  addresses: Record<string, string>;
  /** Requests it has seen so far. */
  countRequests(): Promise<number>;
  stop(): Promise<void>;
};

/** Starts a web without faults that has at least so many pages, each of about so many kilobytes (0: bare ones). */
export async function startBenchWeb(
  pages: number,
  { hostsFile, pageKb }: { hostsFile: string; pageKb: number },
): Promise<BenchWeb> {
  const perPublisher = Math.ceil(pages / publishers);
  const entry = fileURLToPath(new URL('../../test/web/main.js', import.meta.url));
  const args = {
    '--publishers': publishers,
    '--backlog': perPublisher + 10,
    // A clock that stands still: no article appears or changes while it is measured.
    '--speed': 0,
    '--page-kb': pageKb,
    '--hosts-file': hostsFile,
    '--log-capacity': 1000,
  };
  const child = spawn(process.execPath, [entry, '--healthy', ...Object.entries(args).flat().map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit'),
  ])) as [unknown];
  if (typeof line !== 'string') throw new Error('the simulated web ended before it listened');
  const { port, control } = JSON.parse(line) as { port: number; control: number };
  const ask = async <T>(path: string): Promise<T> =>
    (await (await fetch(`http://127.0.0.1:${control}${path}`)).json()) as T;
  const state = await ask<{ publishers: { domain: string; host: string; address: string }[] }>('/state');
  const lists: BenchPage[][] = [];
  for (const { domain, host } of state.publishers) {
    const [truth] = await ask<{ articles: { url: string }[] }[]>(`/truth?domain=${domain}`);
    lists.push(
      truth!.articles.slice(0, perPublisher).map(({ url }) => ({
        host,
        path: url.slice(`http://${host}`.length),
        url,
      })),
    );
  }
  return {
    port,
    hostsFile,
    pages: Array.from({ length: perPublisher }, (_, n) => lists.map((list) => list[n]!))
      .flat()
      .slice(0, pages),
    addresses: Object.fromEntries(state.publishers.map(({ host, address }) => [host, address])),
    countRequests: async () => (await ask<{ requests: number }>('/state')).requests,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
