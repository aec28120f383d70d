import { normalFrom, randomFrom } from '../../test/web/random.ts';
import { manner, type Publisher, type WebOptions } from './web.ts';

/** How a request ended, as far as policies look at it. */
export type Answer = {
  /** null: no usable response. */
  status: number | null;
  failure: 'connect' | 'timeout' | null;
  retryAfterMs: number | null;
  headersMs: number;
  totalMs: number;
};

const tableSize = 4096;
const factors = (() => {
  const random = randomFrom(97);
  return Float64Array.from({ length: tableSize }, () => Math.exp(0.5 * normalFrom(random)));
})();
const bytesPerMs = 2000;
const connectFailsMs = 3000;
const limitedRate = 0.02;

/** Draws how requests end; chance is the run's, what a publisher is like is the web's. */
export class Answers {
  readonly #random: () => number;
  readonly #web: WebOptions;
  readonly #timeouts: { headersMs: number };
  // One for all requests: a run makes hundreds of millions.
  readonly #answer: Answer = { status: 200, failure: null, retryAfterMs: null, headersMs: 0, totalMs: 0 };

  constructor(random: () => number, web: WebOptions, timeouts: { headersMs: number }) {
    this.#random = random;
    this.#web = web;
    this.#timeouts = timeouts;
  }

  /** The answer to a request; read it before the next one is drawn. */
  draw(publisher: Publisher, kind: 'page' | 'channel' | 'robots', kb: number): Answer {
    const answer = this.#answer;
    answer.failure = null;
    answer.retryAfterMs = null;
    const headersMs = publisher.latencyMs * factors[Math.floor(this.#random() * tableSize)]!;
    answer.headersMs = Math.min(headersMs, this.#timeouts.headersMs);
    answer.status = this.#statusOf(publisher, kind);
    if (publisher.manner === manner.gone) {
      answer.failure = 'connect';
      answer.headersMs = connectFailsMs;
    } else if (answer.status === null) {
      answer.failure = 'timeout';
      answer.headersMs = this.#timeouts.headersMs;
    }
    if (answer.status === 429) answer.retryAfterMs = 60_000 * (1 + Math.floor(this.#random() * 10));
    answer.totalMs = answer.headersMs + (answer.status === 200 ? (kb * 1024) / bytesPerMs : 0);
    return answer;
  }

  #statusOf(publisher: Publisher, kind: 'page' | 'channel' | 'robots'): number | null {
    if (publisher.manner === manner.gone) return null;
    if (publisher.manner === manner.refuses) return 403;
    if (kind === 'robots') return 200;
    if (publisher.manner === manner.limits && this.#random() < limitedRate) return 429;
    const way = this.#random();
    if (way < publisher.errorRate)
      return way < publisher.errorRate * 0.3 ? null : way < publisher.errorRate * 0.5 ? 503 : 500;
    return kind === 'page' && this.#random() < this.#web.missingRate ? 404 : 200;
  }
}
