import { describe, expect, it } from 'vitest';
import { decideBackoff, decideFailure, decidePenalty, decideRejection, decideStatus } from './outcome.ts';

const fresh = { tries: 0, maxTries: 5 };

describe('the response table', () => {
  it.each([
    [400, 'dead', 'http_400'],
    [404, 'dead', 'not_found'],
    [405, 'dead', 'http_405'],
    [410, 'dead', 'gone'],
    [414, 'dead', 'http_414'],
    [451, 'dead', 'legal'],
    [401, 'failed', 'forbidden'],
    [403, 'failed', 'forbidden'],
    [408, 'failed', 'http_408'],
    [425, 'failed', 'http_425'],
    [500, 'failed', 'http_500'],
    [503, 'failed', 'http_503'],
    [999, 'failed', 'bad_response'],
  ])('%i → %s: %s', (status, expected, code) => {
    const { verdict } = decideStatus(status, null, fresh);
    expect([verdict.status, verdict.errorCode]).toEqual([expected, code]);
  });

  it('429 holds the domain and costs the URL no try', () => {
    const { verdict, domain } = decideStatus(429, 5000, { tries: 2, maxTries: 5 });
    expect(verdict).toMatchObject({ status: 'failed', tries: 2, dueInMs: 5000 });
    expect(domain).toEqual({ signal: 'slow_down', holdMs: 5000, reason: 'rate_limited' });
  });

  it('503 with Retry-After waits like 429, without it costs a try', () => {
    expect(decideStatus(503, 1000, fresh).verdict.tries).toBe(0);
    expect(decideStatus(503, null, fresh).verdict.tries).toBe(1);
  });

  it('the last try is dead: max_retries, or forbidden for refusals', () => {
    const last = { tries: 4, maxTries: 5 };
    expect(decideStatus(500, null, last).verdict).toMatchObject({
      status: 'dead',
      errorCode: 'max_retries',
      tries: 5,
      dueInMs: null,
    });
    expect(decideStatus(403, null, last).verdict).toMatchObject({ status: 'dead', errorCode: 'forbidden' });
    expect(decideFailure('timeout', 'too slow', last).verdict).toMatchObject({
      status: 'dead',
      errorCode: 'max_retries',
    });
  });
});

describe('failures without a response', () => {
  it('network kinds are retried and tell on the domain', () => {
    for (const kind of ['dns', 'connect', 'tls', 'timeout', 'reset'] as const) {
      const { verdict, domain } = decideFailure(kind, 'x', fresh);
      expect([verdict.status, verdict.errorCode, domain.signal]).toEqual(['failed', kind, 'network']);
    }
  });
  it('what our own guard refused is dead at once', () => {
    expect(decideFailure('refused_address', '10.0.0.1', fresh).verdict).toMatchObject({
      status: 'dead',
      errorCode: 'refused_address',
    });
  });
  it('without a proxy that may be used it waits and keeps its tries', () => {
    const { verdict, domain } = decideFailure('no_proxy', 'x', { tries: 4, maxTries: 5 });
    expect(verdict).toMatchObject({ status: 'failed', tries: 4, errorCode: 'no_proxy', dueInMs: 300_000 });
    expect(domain.signal).toBe('neutral');
  });
  it('a hostile body is retried but is not the network', () => {
    expect(decideFailure('decompress_bomb', 'x', fresh).domain.signal).toBe('neutral');
  });
});

describe('rejected pages', () => {
  it.each([
    ['challenge', 'failed', 'refused'],
    ['access_denied', 'failed', 'refused'],
    ['login_wall', 'failed', 'refused'],
    ['site_error', 'failed', 'server_error'],
    ['soft_404', 'dead', 'good'],
    ['too_short', 'dead', 'good'],
    ['no_text', 'dead', 'good'],
    ['needs_javascript', 'needs_render', 'good'],
  ])('%s → %s, domain %s', (reason, status, signal) => {
    const { verdict, domain } = decideRejection(reason, 'x', fresh);
    expect([verdict.status, domain.signal]).toEqual([status, signal]);
  });
  it('what needs JavaScript ends for good where no browser is wanted, or where one showed nothing', () => {
    const ended = (rendering: 'never' | 'tried') =>
      decideRejection('needs_javascript', 'empty root', fresh, rendering).verdict;
    expect(ended('never')).toMatchObject({ status: 'dead', errorCode: 'needs_javascript', dueInMs: null });
    expect(ended('tried')).toMatchObject({ status: 'dead', errorCode: 'render_empty', dueInMs: null });
  });
  it('what a browser could not do costs a try and says nothing of the domain', () => {
    for (const kind of ['render_timeout', 'render_crashed', 'render_too_large'] as const) {
      const { verdict, domain } = decideFailure(kind, 'x', fresh);
      expect([verdict.status, verdict.errorCode, domain.signal]).toEqual(['failed', kind, 'neutral']);
    }
  });
});

describe('backoff and penalty', () => {
  it('grows from a minute to twelve hours and stays there', () => {
    const minutes = [1, 2, 3, 4, 5, 9].map((n) => decideBackoff(n, () => 0.5) / 60_000);
    expect(minutes).toEqual([1, 5, 30, 120, 720, 720]);
  });
  it('starts at the delay, doubles up to ten minutes, halves after ten good answers', () => {
    let state = { penaltyMs: 0, goodRun: 0 };
    const step = (signal: 'slow_down' | 'good' | 'refused') => {
      state = decidePenalty(state, 1000, signal);
      return state.penaltyMs;
    };
    expect([step('slow_down'), step('slow_down'), step('slow_down')]).toEqual([1000, 2000, 4000]);
    for (let i = 0; i < 9; i += 1) expect(step('good')).toBe(4000);
    expect(step('good')).toBe(2000);
    for (let i = 0; i < 20; i += 1) step('slow_down');
    expect(state.penaltyMs).toBe(600_000);
  });
});
