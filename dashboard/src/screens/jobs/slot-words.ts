import type { Answer } from '../../api/client.ts';
import { shareText } from '../../parts/format.ts';
import type { Tone } from '../../parts/tones.ts';

/** Where the runs of the next day lie. */
export type Distribution = Answer<'getDistribution'>;
/** What rebalancing does, or would do. */
export type Rebalance = Answer<'previewRebalance'>;

/** How evenly runs are spread, by the same bound at which needs-attention speaks. */
export function scoreState(score: number): { tone: Tone; word: string } {
  if (score >= 0.9) return { tone: 'ok', word: 'even' };
  if (score >= 0.7) return { tone: 'ok', word: 'mostly even' };
  return { tone: 'warn', word: 'bunched' };
}

/** What the score means, in a sentence. */
export function scoreText({ distributionScore, totalRuns }: Distribution): string {
  if (totalRuns === 0) return 'Nothing is to be run in the next 24 hours.';
  const share = shareText(distributionScore);
  if (distributionScore >= 0.995) return 'The runs of the next 24 hours are spread as evenly as can be.';
  return distributionScore >= 0.7
    ? `${share} of the runs of the next 24 hours lie where they would if all were spread evenly.`
    : `Only ${share} of the runs of the next 24 hours lie where they would if all were spread evenly: many begin at the same time.`;
}

/** Moves that are listed; more are counted. */
export const mostMoves = 100;
