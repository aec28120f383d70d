type Counts = Record<string, number>;
type Floor = { part: string; holds: (score: Counts) => boolean; text: string };

const allRight = (part: string): Floor => ({
  part,
  holds: (score) => score.right === (score.cases ?? score.files) && (score.wrongAllow ?? 0) === 0,
  text: 'all must be right',
});

/** Below these a change is a step back, whatever else it brings. */
const floors: readonly Floor[] = [
  {
    part: 'feeds',
    holds: (s) => s.threw === 0 && s.right! >= 0.99 * s.files! && s.entryRight! >= 0.99 * s.entryFiles!,
    text: '99 % of files and of entries must be right and none may throw',
  },
  {
    part: 'dates',
    holds: (s) => s.wrong === 0 && s.right! >= 0.9 * s.cases!,
    text: 'none may be wrong and 90 % must be right',
  },
  allRight('sitemaps'),
  allRight('robots'),
  allRight('robotsReal'),
  allRight('robotsEscapes'),
  allRight('identity'),
  allRight('psl'),
  allRight('wptUrl'),
];

/** The floors that a run broke, in words; parts that were not run break none. */
export function brokenFloors(scores: Record<string, object>): string[] {
  return floors.flatMap((floor) => {
    const score = scores[floor.part] as Counts | undefined;
    return score === undefined || floor.holds(score)
      ? []
      : [`${floor.part}: ${floor.text}: ${JSON.stringify(score)}`];
  });
}
