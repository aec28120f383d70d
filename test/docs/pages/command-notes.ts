/** What a command's own help has no room for, by the command; a test wants every key to be a command. */
export const commandNotes: Readonly<Record<string, string>> = {
  up: 'A supervisor replaces what dies or falls silent. Fetchers: one less than there are cores, at least one, at most eight ([how it works](../guides/how-it-works.md)).',
  fetch:
    'What it needs of the database and the network: [a fetcher on another machine](../guides/remote-fetcher.md).',
  demo: 'With `--json` the last line is the result. Exit code 1 if it broke a promise: a request came too early, or a URL was lost.',
  run: 'It works on a temporary database unless one is named (`--data`, `DATABASE_URL`). A record of the output has `id, version, url, canonical_url, source, title, text, authors, published_at, modified_at, first_seen_at, crawled_at, language, section, description, keywords, lead_image, word_count, page_type, content_hash, classification_status, classified_at, labels`.',
  add: 'Says what was found. Without a scheme, https is tried, then http.',
  import:
    'Says what was added, what was there, and which lines could not be used; run again, it goes on where it was ([lists of sources](../guides/lists.md)).',
  export:
    'Every setting comes back with an import of it; proxy passwords are included, so the file is readable by its owner alone ([lists of sources](../guides/lists.md)).',
  channels:
    'DELAY is the mean time from publication to discovery, LATE how long polls wait for their turn, PUSH how the subscription at a hub stands ([channels](../guides/channels.md)).',
  'sources selectors': 'A redesign shows as a falling share ([writing selectors](../guides/selectors.md)).',
  'sources robots': 'Who did it and why is kept in the audit.',
  submit:
    'Says per URL inserted, raised, refreshed, duplicate or rejected with the reason. Exit code 2 if one was rejected.',
  explain: 'See [troubleshooting](../guides/troubleshooting.md).',
  domain: 'See [domains](../guides/domains.md).',
  jobs: 'See [jobs](../guides/jobs.md).',
  sources:
    'STATE is `empty` where no feed or sitemap was found and no links are followed: nothing of it comes in.',
  urls: 'With addresses, or with what all have in common: `outrider urls retry --domain example.com --status dead`.',
  'urls retry':
    'Says per URL retried, unknown or refused, and exits with 2 where one could not be. Polls are steered by their channel.',
  switch: 'Every process follows within seconds.',
  extract:
    'An address is asked once, without robots.txt or database. Exit code 1 when validation rejects the page ([extraction](../guides/extraction.md)).',
  sinks: 'See [sinks](../guides/sinks.md).',
  images: 'See [images](../guides/images.md).',
  db: 'See [moving to PostgreSQL](../guides/moving-to-postgresql.md).',
  token: 'See [access to the API](../guides/api-access.md).',
  config: 'See [configuration](configuration.md).',
  completion: 'As in `source <(outrider completion bash)`.',
  doctor: 'It makes and migrates nothing.',
};
