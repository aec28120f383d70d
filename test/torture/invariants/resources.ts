import type { Ground } from './ground.ts';

// Threads, keep-alive connections and files that are opened when first needed.
const fileSlack = 24;
const mostMb = 500;
const settleMs = 40_000;

/** (9) Memory, sockets and files return to what they were. */
export async function checkResources({ stage, baseline }: Ground): Promise<string[]> {
  const until = performance.now() + settleMs;
  for (;;) {
    const problems = stage.members.flatMap((member) => {
      const usage = member.usage();
      if (usage === null) return process.platform === 'linux' ? [`${member.life} does not run`] : [];
      const most = (baseline.get(member.role) ?? 0) + fileSlack;
      return [
        ...(usage.files > most
          ? [`${member.life} has ${usage.files} files open, at most ${most} wanted`]
          : []),
        ...(usage.rssMb > mostMb ? [`${member.life} has ${Math.round(usage.rssMb)} MB`] : []),
      ];
    });
    if (problems.length === 0 || performance.now() > until) return problems;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** Nobody ended for a reason of its own, other than a database that stayed away, a full disk or want of memory. */
export function checkOwnEnds({ stage }: Ground): string[] {
  return stage.members.flatMap(({ ownEnds }) =>
    ownEnds.map(({ life, code, signal, last }) => `${life} ended with ${code ?? signal}:\n${last}`),
  );
}
