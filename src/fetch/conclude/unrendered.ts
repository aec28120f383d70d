import type { LeasedUrl } from '../../frontier/index.ts';
import type { Source } from '../../sources/index.ts';
import { ended, type RowEnd } from './row-end.ts';

/**
 * The end of a row that must not be fetched the way it was handed out; null: it may. A source that is always rendered
 * gives its pages to a browser without a request; one that never is takes them back, and one that is disabled lets them
 * wait like all its others.
 */
export function concludeUnrendered(
  row: LeasedUrl,
  source: Source | null,
  isRendering: boolean,
): RowEnd | null {
  const mode = source?.settings.render ?? 'auto';
  if (!isRendering)
    return mode === 'always' && (row.kind === 'article' || row.kind === 'listing')
      ? ended(row, {
          status: 'needs_render',
          dueInMs: null,
          tries: row.tries,
          errorCode: 'render_always',
          errorText: 'the pages of its source are always rendered',
        })
      : null;
  if (source?.enabled === false)
    return ended(row, {
      status: 'pending',
      dueInMs: 0,
      tries: row.tries,
      errorCode: null,
      errorText: null,
    });
  if (mode !== 'never') return null;
  return ended(row, {
    status: 'dead',
    dueInMs: null,
    tries: row.tries,
    errorCode: 'needs_javascript',
    errorText: 'the pages of its source are never rendered',
  });
}
