import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What runs for a minute comes first and what runs for moments last, so that no worker ends alone. */
const order = [
  'test/e2e/',
  'test/sinks/outage',
  'test/embedded/',
  'test/cli/',
  'test/dashboard/',
  'test/api/contract/',
  'test/channels/',
  'test/frontier/',
  'test/',
  'src/',
];

/** Files by their folders; within one as vitest does it, by the last run or by size. A fresh clone has no last run. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const path = relative(this.ctx.config.root, moduleId);
      const rank = order.findIndex((start) => path.startsWith(start));
      return rank < 0 ? order.length : rank;
    };
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b));
  }
}
