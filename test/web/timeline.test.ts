import { describe, expect, it } from 'vitest';
import { makePublishers } from './index.ts';
import { createTimeline, type Timeline } from './timeline.ts';

const dayMs = 86_400_000;
const startMs = Date.parse('2026-03-04T12:00:00Z');

function timelineOf(ratePerDay: number, backlog = 50, domain = 'a.test'): Timeline {
  return createTimeline({ seed: 1, domain, ratePerDay, backlog, startMs });
}

function itemsOf(timeline: Timeline, untilMs: number) {
  return Array.from({ length: timeline.countAt(untilMs) }, (_, index) => {
    const item = timeline.at(index);
    if (item === undefined) throw new Error(`no item ${index}`);
    return item;
  });
}

describe('createTimeline', () => {
  it('starts with its catalogue, in order, found by number and by position', () => {
    for (const rate of [0.2, 5, 300]) {
      const items = itemsOf(timelineOf(rate), startMs);
      expect(items).toHaveLength(50);
      for (const [index, item] of items.entries()) {
        expect(item.index).toBe(index);
        expect(item.atMs).toBeGreaterThanOrEqual(items[index - 1]?.atMs ?? 0);
        expect(item.atMs).toBeLessThanOrEqual(startMs);
        expect(timelineOf(rate).byId(item.id)).toEqual(item);
      }
    }
  });

  it('gives the same items however time passes', () => {
    const steps = timelineOf(20);
    for (let hour = 0; hour < 240; hour++) steps.countAt(startMs + hour * 3_600_000);
    expect(itemsOf(steps, startMs + 10 * dayMs)).toEqual(itemsOf(timelineOf(20), startMs + 10 * dayMs));
  });

  it('keeps its rate, its nights and its weekends', () => {
    const items = itemsOf(timelineOf(40, 0), startMs + 364 * dayMs);
    expect(items.length / 364).toBeGreaterThan(36);
    expect(items.length / 364).toBeLessThan(50);
    const weekend = items.filter((item) => [0, 6].includes(new Date(item.atMs).getUTCDay())).length;
    expect(weekend / items.length).toBeLessThan(0.25);
    const byHour = Array<number>(24).fill(0);
    for (const item of items)
      byHour[new Date(item.atMs).getUTCHours()] = (byHour[new Date(item.atMs).getUTCHours()] ?? 0) + 1;
    expect(Math.max(...byHour)).toBeGreaterThan(4 * Math.min(...byHour));
  });

  it('has days of bursts', () => {
    const perDay = new Map<number, number>();
    for (const item of itemsOf(timelineOf(40, 0), startMs + 364 * dayMs)) {
      const day = Math.floor(item.atMs / dayMs);
      perDay.set(day, (perDay.get(day) ?? 0) + 1);
    }
    const counts = [...perDay.values()].sort((a, b) => a - b);
    // Far beyond what a Poisson day of this rate could reach, but not every day.
    expect(counts.at(-1)).toBeGreaterThan(100);
    expect(counts[Math.floor(counts.length * 0.9)]).toBeLessThan(75);
  });

  it('takes unscheduled items in between without renumbering what is out', () => {
    const timeline = timelineOf(30);
    const before = itemsOf(timeline, startMs);
    const added = timeline.publish(startMs, 3);
    expect(added.map((item) => item.index)).toEqual([50, 51, 52]);
    const after = itemsOf(timeline, startMs + dayMs);
    expect(after.slice(0, 50)).toEqual(before);
    expect(after.slice(50, 53)).toEqual(added);
    expect(after.map((item) => item.index)).toEqual(after.map((_, index) => index));
    expect(new Set(after.map((item) => item.id)).size).toBe(after.length);
  });
});

describe('makePublishers', () => {
  it('draws log-normal rates with a spread of 1.5', () => {
    const logs = makePublishers({ seed: 4, count: 2_000 }).map((one) => Math.log(one.ratePerDay));
    const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
    const spread = Math.sqrt(logs.reduce((sum, value) => sum + (value - mean) ** 2, 0) / logs.length);
    // The rates are clipped at both ends, which takes a little of the spread.
    expect(spread).toBeGreaterThan(1.35);
    expect(spread).toBeLessThan(1.6);
    expect(Math.exp(mean)).toBeGreaterThan(4.5);
    expect(Math.exp(mean)).toBeLessThan(8);
  });

  it('names thousands of publishers, each once', () => {
    const publishers = makePublishers({ seed: 4, count: 5_000 });
    expect(new Set(publishers.map((one) => one.domain)).size).toBe(5_000);
    if (process.platform === 'linux') expect(new Set(publishers.map((one) => one.address)).size).toBe(5_000);
  });
});
