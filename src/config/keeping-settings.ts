import { choice, integer, text } from './setting.ts';

const retained = (days: number, what: string) =>
  integer({ default: days, min: 1, max: 36_500, description: `${what} for so many days.` });

/** What is kept of pages and images, for how long, and where. */
export const keepingSettings = {
  documents: {
    minWords: integer({
      default: 50,
      min: 0,
      max: 10_000,
      description: 'Below this a page is kept as a stub only.',
    }),
    minBodyBytes: integer({
      default: 500,
      min: 0,
      max: 1_000_000,
      description: 'A page whose body has fewer bytes is no document (dead: too_short).',
    }),
    maxUndelivered: integer({
      default: 200_000,
      min: 100,
      max: 100_000_000,
      description:
        'Deliveries to sinks that may wait; beyond it fetching slows, and at twice as much it waits.',
    }),
    keepHtml: choice({
      choices: ['none', 'compressed', 'archive'],
      default: 'compressed',
      description:
        'Whether the bytes of each new document version are kept; archive: only until every sink has had them.',
    }),
  },
  retention: {
    executionDays: retained(30, 'Executions of jobs and their logs are kept'),
    crawlLogDays: retained(30, 'Requests are kept in the crawl log'),
    rawPageDays: retained(30, 'The bytes of pages are kept'),
    changesDays: retained(30, 'Changes are kept in the change feed'),
  },
  images: {
    mode: choice({
      choices: ['off', 'reference', 'store'],
      default: 'reference',
      description:
        'What is done with the images of articles: nothing, their addresses are kept with the document, or they are fetched and stored. A source may have its own.',
    }),
    maxPerPage: integer({
      default: 10,
      min: 1,
      max: 50,
      description: 'Most images of one article that are fetched, the lead image first.',
    }),
    maxBytes: integer({
      default: 10_000_000,
      min: 10_000,
      max: 100_000_000,
      description: 'Largest image that is stored.',
    }),
    minSide: integer({
      default: 256,
      min: 1,
      max: 10_000,
      description: 'Pixels a stored image has at least, in width and in height.',
    }),
    maxPixels: integer({
      default: 100_000_000,
      min: 65_536,
      max: 1_000_000_000,
      description: 'Pixels a stored image has at most, width times height.',
    }),
    sweepDays: integer({
      default: 7,
      min: 1,
      max: 3650,
      description: 'Days until an image is deleted that no page of ours shows any more.',
    }),
  },
  blobs: {
    kind: choice({
      choices: ['folder', 's3'],
      default: 'folder',
      description:
        'Where stored images lie: in a folder, or in an S3-compatible store. Fetchers on several machines need s3 or a shared folder.',
    }),
    dir: text({
      default: null,
      description: 'The folder; "blobs" in the data directory unless set.',
    }),
    bucket: text({ default: null, description: 'Bucket of the S3 store; it must be there.' }),
    prefix: text({ default: null, description: 'What the keys of blobs begin with.' }),
  },
} as const;
