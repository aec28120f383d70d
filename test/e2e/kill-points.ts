import type { Web } from '../web/index.ts';
import { waitUntil } from './wait.ts';

/**
 * Requests at which somebody is killed, one in each share of those that are made for certain: all of them come, however
 * many more are made while a killed process is replaced.
 */
export function killPoints(
  between: (least: number, most: number) => number,
  { kills, from = 0, certain }: { kills: number; from?: number; certain: number },
): number[] {
  const share = Math.floor(certain / kills);
  return Array.from({ length: kills }, (_, nth) => from + nth * share + between(1, share));
}

/** Until so many requests have been made of this web. */
export const reach = (web: Web, point: number): Promise<void> =>
  waitUntil(`request ${point} is made`, () => web.log.nextSeq >= point || `at ${web.log.nextSeq}`);
