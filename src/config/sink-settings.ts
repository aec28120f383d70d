import { choice, integer, serviceAddress, text } from './setting.ts';

/** Where documents are delivered, besides the built-in index; a sink without an address or folder is off. */
export const sinkSettings = {
  elasticsearch: {
    url: serviceAddress({
      env: 'ELASTICSEARCH_URL',
      default: null,
      secret: true,
      description:
        'Elasticsearch 7.8 or newer, or OpenSearch, that documents are delivered to; a user and a password may stand in it.',
    }),
    apiKey: text({
      default: null,
      secret: true,
      description: 'API key to sign in with, instead of a user in the address.',
    }),
    shards: integer({ default: 1, min: 1, max: 1000, description: 'Shards of each new index.' }),
    replicas: integer({
      default: 0,
      min: 0,
      max: 10,
      description: 'Copies of each shard of new indices; 0 suits one node.',
    }),
    rawHtml: choice({
      choices: ['on', 'off'],
      default: 'on',
      description: 'Whether the page itself is delivered too, as far as it is kept.',
    }),
  },
  files: {
    dir: text({ default: null, description: 'Folder for NDJSON files of all documents; off unless set.' }),
    maxMegabytes: integer({
      default: 256,
      min: 1,
      max: 100_000,
      description: 'Size at which the next NDJSON file begins.',
    }),
    maxMinutes: integer({
      default: 60,
      min: 1,
      max: 43_200,
      description: 'Age at which the next NDJSON file begins.',
    }),
  },
  archive: {
    bucket: text({
      default: null,
      description: 'Bucket of the S3 store that the page of every document is archived in; off unless set.',
    }),
    prefix: text({ default: null, description: 'What the keys of archived pages begin with.' }),
  },
  warc: {
    dir: text({
      default: null,
      description: 'Folder for WARC files of every response as it came; off unless set.',
    }),
    maxMegabytes: integer({
      default: 1024,
      min: 1,
      max: 100_000,
      description: 'Size at which the next WARC file begins.',
    }),
    maxMinutes: integer({
      default: 1440,
      min: 1,
      max: 43_200,
      description: 'Age at which the next WARC file begins.',
    }),
    operator: text({
      default: null,
      description: 'Who made the archive, a name or an address; stands at the beginning of each WARC file.',
    }),
    description: text({
      default: null,
      description: 'What the archive is, in a line; stands at the beginning of each WARC file.',
    }),
    maxUndeliveredMegabytes: integer({
      default: 1024,
      min: 16,
      max: 1_000_000,
      description:
        'Responses that may wait to be written; beyond it fetching slows, and at twice as much it waits.',
    }),
  },
  webhook: {
    url: serviceAddress({
      default: null,
      secret: true,
      description: 'Address that is told of every document version by a signed POST; off unless set.',
    }),
    secret: text({
      default: null,
      secret: true,
      description: 'What messages are signed with, 16 characters at least; base64 behind "whsec_".',
    }),
    concurrency: integer({ default: 4, min: 1, max: 64, description: 'Messages sent at once.' }),
  },
} as const;
