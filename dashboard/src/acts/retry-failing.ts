import { ask, type Input } from '../api/client.ts';
import { problemOf, problemText } from '../api/problem.ts';
import { confirm } from '../parts/confirm.ts';
import { plural, totalText, wordsOf } from '../parts/format.ts';
import { say } from '../parts/toasts.ts';

type Body = Input<'actOnChannels'>['body'];
/** Which of the channels that fail are meant. */
export type FailingFilter = Body['filter'];

// A portion is 500: as many calls as half a million channels need.
const mostCalls = 1000;

/**
 * Polls all channels that fail, or forgets their errors as well, after their number was said; answers how many. What goes
 * wrong is said.
 */
export async function retryFailing(action: Body['action'], filter: FailingFilter): Promise<number> {
  try {
    return await askAndRetry(action, filter);
  } catch (error) {
    say(problemText(problemOf(error)), 'fail');
    return 0;
  }
}

async function askAndRetry(action: Body['action'], filter: FailingFilter): Promise<number> {
  const { total } = await ask('actOnChannels', { body: { action, filter, dryRun: true } });
  if (total.count === 0) {
    say('No channel fails.');
    return 0;
  }
  const what = action === 'reset' ? 'Their errors are forgotten, and they' : 'They';
  const answer = await confirm({
    title: 'Retry what fails',
    text: `${totalText(total)} ${total.count === 1 && total.exact ? 'channel fails' : 'channels fail'}. ${what} are polled as soon as their domains may be asked.`,
    label: `Retry ${totalText(total)}`,
  });
  if (answer === null) return 0;
  const outcomes = new Map<string, number>();
  let cursor: string | undefined;
  for (let call = 0; call < mostCalls; call += 1) {
    const page = await ask('actOnChannels', {
      body: { action, filter, ...(cursor === undefined ? {} : { cursor }) },
    });
    for (const [name, count] of Object.entries(page.outcomes))
      outcomes.set(name, (outcomes.get(name) ?? 0) + count);
    if (page.cursor === null) break;
    cursor = page.cursor;
  }
  return tell(outcomes);
}

function tell(outcomes: ReadonlyMap<string, number>): number {
  const done = (outcomes.get('polled') ?? 0) + (outcomes.get('reset') ?? 0);
  if (done > 0)
    say(`${plural(done, 'channel is', 'channels are')} polled as soon as their domains may be asked.`);
  const refused = [...outcomes].filter(([name]) => name.startsWith('refused:'));
  if (refused.length > 0)
    say(
      `Left alone: ${refused.map(([name, count]) => `${count} (${wordsOf(name.slice(8))})`).join(', ')}.`,
      'fail',
    );
  return done;
}
