import { excerptOf, isForNow, type ServiceAnswer } from '../http.ts';
import type { Outage } from '../sink.ts';

/** What an answer says of the server as a whole, with what to do about it where that is known. */
export function outageOf(answer: ServiceAnswer): Outage {
  if (answer.outcome === 'failed') return { reason: answer.reason };
  const { status, text, retryAfterMs } = answer;
  const advice = status === 401 || status === 403 ? ' (check the user, password or API key)' : '';
  return {
    reason: `the server answered ${status}${advice}${excerptOf(text)}`,
    ...(retryAfterMs === null || !isForNow(status) ? {} : { retryAfterMs }),
  };
}
