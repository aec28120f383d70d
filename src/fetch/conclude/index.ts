import type { LeasedUrl } from '../../frontier/index.ts';
import { concludeChannel } from './channel.ts';
import { concludePage } from './page.ts';
import { concludeProbe } from './probe.ts';
import type { Ended, RowContext, RowEnd } from './row-end.ts';

export { concludeUnpolled } from './channel.ts';
export { concludeUnfetchedImage, concludeUnstored } from './image.ts';
export {
  concludeOrphan,
  type FurtherPage,
  type FurtherPages,
  type PollEnd,
  type RowContext,
  type RowEnd,
  responseOf,
} from './row-end.ts';
export { concludeUnrendered } from './unrendered.ts';

/** Turns an arrival into its consequences; no I/O but for further pages of an article, only the parsing it asks for. */
export async function concludeRow(row: LeasedUrl, arrival: Ended, context: RowContext): Promise<RowEnd> {
  if (row.kind === 'channel') return concludeChannel(row, arrival, context);
  if (row.kind === 'probe') return concludeProbe(row, arrival, context);
  return concludePage(row, arrival, context);
}
