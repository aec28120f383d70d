import { expect, test } from 'vitest';
import { DomainLessons } from './lessons.ts';

const day = 86_400_000;
const cooldowns = {
  login_required: day,
  rate_limited: day,
  forbidden: day,
  challenge: day,
  server_error: day,
  robots_denied: day,
};
const learn = (): DomainLessons =>
  new DomainLessons(
    { delayMs: 1000, penaltyMs: 0, goodRun: 0, ladder: null },
    { clock: { monotonic: () => 0 }, log: { warn: () => undefined }, cooldowns },
  );

test('of several robots.txt the most careful one decides, whichever was asked last', () => {
  const lessons = learn();
  for (const delayMs of [null, 10_000, 2000, null]) lessons.noteCrawlDelay(delayMs);
  expect(lessons.delayMs).toBe(10_000);
  expect(lessons.summary(true)).toMatchObject({ robotsDelayMs: 10_000 });
});

test('that none asks for a delay is news too, once one was asked', () => {
  const lessons = learn();
  lessons.noteCrawlDelay(null);
  expect(lessons.delayMs).toBe(1000);
  expect(lessons.summary(true)).toMatchObject({ robotsDelayMs: 0 });
  expect(lessons.summary(false)).toBeUndefined();
});
