import { describeUrl } from './describe-url.ts';
import type { ChannelFacts } from './load-channel.ts';
import { ago, many, span } from './words.ts';

/** The answer in words about a channel. */
export type ChannelExplanation = {
  state: string;
  sentences: string[];
  expectedAt: Date | null;
  advice: string[];
};

/** Turns facts into a colleague's answer. Pure. */
export function describeChannel(facts: ChannelFacts): ChannelExplanation {
  const { channel, source, poll } = facts;
  const row = describeUrl(poll);
  const isOff = !channel.enabled || !source.enabled || isLinksOnly(facts);
  return {
    state: !source.enabled
      ? 'source disabled'
      : !channel.enabled
        ? 'disabled'
        : isLinksOnly(facts)
          ? 'links only'
          : channel.asleep
            ? 'asleep'
            : row.state,
    sentences: [
      ...whatText(facts),
      ...troubleText(facts),
      historyText(facts),
      ...pushText(facts),
      // How it was discovered is said above; that it waits for the next look at its source means nothing to anybody.
      ...(poll.row === null
        ? ['It has no row in the frontier yet.']
        : isLinksOnly(facts)
          ? []
          : row.sentences.slice(1)),
    ],
    expectedAt: isOff ? null : row.expectedAt,
    advice: adviceOf(facts),
  };
}

/** Whether its source is followed by links, and no channel of it polled but what archives were found to be. */
const isLinksOnly = ({ channel, source }: ChannelFacts): boolean =>
  source.ingestionMode === 'spider' && channel.foundBy !== 'archive';

const foundTexts = {
  manual: 'somebody named it',
  link: 'a page of the publisher links to it',
  path: 'it was found at a usual address',
  robots: 'robots.txt names it',
  index: 'a sitemap index names it',
  archive: 'it was found while archives were looked for',
} as const;

function whatText({ channel, source }: ChannelFacts): string[] {
  const title = channel.title === null ? '' : ` "${channel.title}"`;
  return [
    `Channel ${channel.id}, a ${channel.kind}${title} of ${source.name}; ${foundTexts[channel.foundBy]}.`,
    `It is to be polled every ${span(channel.intervalSeconds * 1000)}, more or less often as it brings news.`,
    ...(channel.floorSeconds === null || channel.floorSeconds === 0
      ? []
      : [`Its publisher asks not to be asked more often than every ${span(channel.floorSeconds * 1000)}.`]),
  ];
}

function troubleText(facts: ChannelFacts): string[] {
  const { channel, source, poll } = facts;
  const words: string[] = [];
  if (!source.enabled)
    words.push(
      `Its source is disabled${source.disableReason === null ? '' : ` (${source.disableReason})`}, so nothing of it is polled.`,
    );
  else if (!channel.enabled) words.push('It is disabled: nobody polls it until it is enabled.');
  else if (isLinksOnly(facts)) words.push('Its source is followed by its links only, so it is not polled.');
  if (channel.errorsInRow > 0)
    words.push(
      `${many(channel.errorsInRow, 'poll')} in a row failed${channel.errorKind === null ? '' : ` (${channel.errorKind})`}${channel.failingForMs === null ? '' : `, for ${span(channel.failingForMs)}`}.`,
    );
  if (channel.asleep)
    words.push(
      `It sleeps since its errors became too many${channel.sleepReason === null ? '' : ` (${channel.sleepReason})`}: it is tried seldom, and one good answer wakes it.`,
    );
  if (channel.redirectTo !== null)
    words.push(
      `Its last ${many(channel.redirects, 'poll')} led to ${channel.redirectTo} for good; it moves there when that goes on.`,
    );
  if (poll.row?.status === 'dead') words.push('Its row was given up, so it is not polled.');
  return words;
}

function historyText({ channel, poll }: ChannelFacts): string {
  const polls = Number(channel.polls);
  if (polls === 0) return 'It was never polled.';
  const late =
    channel.delaySeconds === null
      ? ''
      : ` News reached us ${span(channel.delaySeconds * 1000)} after it was published, on average.`;
  const answered =
    channel.lastSuccessAt === null
      ? 'never answered'
      : `last answered ${ago(channel.lastSuccessAt, poll.now)}`;
  return `It was polled ${many(polls, 'time')}, ${Number(channel.notModified)} of them without news, and ${answered}; ${many(Number(channel.itemsSeen), 'item')} seen, ${Number(channel.itemsNew)} of them new.${late}`;
}

function pushText({ channel, push }: ChannelFacts): string[] {
  if (push === null) return [];
  if (channel.pushed)
    return [`Its hub ${push.hub} tells us of news at once, so polls are only a safety net.`];
  return [`Its hub is ${push.hub}; the subscription is ${push.state}.`];
}

function adviceOf(facts: ChannelFacts): string[] {
  const { channel, source } = facts;
  const advice: string[] = [];
  if (!source.enabled) advice.push(`outrider sources enable ${source.slug}`);
  if (!channel.enabled) advice.push(`outrider channels enable ${channel.id}`);
  else if (isLinksOnly(facts)) advice.push(`outrider sources set ${source.slug} --mode both`);
  else if (channel.asleep || channel.errorsInRow > 0) advice.push(`outrider channels wake ${channel.id}`);
  return advice;
}
