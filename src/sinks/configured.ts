import type { Config } from '../config/index.ts';
import { AppError, EXIT } from '../errors/index.ts';
import { configuredS3 } from '../s3/index.ts';
import type { Clock } from '../telemetry/index.ts';
import { createArchiveSink } from './archive/index.ts';
import { createElasticsearchSink } from './elasticsearch/index.ts';
import { createNdjsonSink } from './files/index.ts';
import type { ResponseSink, Sink } from './sink.ts';
import { createWarcSink } from './warc/index.ts';
import { createWebhookSink } from './webhook/index.ts';

const leastSecretChars = 16;

/** The sinks that the configuration names, each under the name of its kind. */
export function configuredSinks(
  config: Config,
  options: { userAgent: string; clock: Clock },
): (Sink | ResponseSink)[] {
  const { userAgent, clock } = options;
  const { archive, documents, elasticsearch, files, warc, webhook } = config;
  const now = (): number => clock.now();
  const sinks: (Sink | ResponseSink)[] = [];
  if (elasticsearch.url !== null) {
    sinks.push(
      createElasticsearchSink({
        ...elasticsearch,
        url: elasticsearch.url,
        name: 'elasticsearch',
        rawHtml: elasticsearch.rawHtml === 'on',
        userAgent,
      }),
    );
  }
  if (files.dir !== null) {
    const { dir, maxMegabytes, maxMinutes } = files;
    const limits = { mostBytes: maxMegabytes * 1024 * 1024, mostAgeMs: maxMinutes * 60_000 };
    sinks.push(createNdjsonSink({ name: 'files', dir, ...limits, now }));
  }
  if (archive.bucket !== null) {
    if (documents.keepHtml === 'none')
      throw new AppError(
        'config_invalid',
        'archive.bucket is set, but documents.keep_html is none: there would be no page to archive',
        {
          exitCode: EXIT.usage,
          advice: 'Set documents.keep_html to archive: pages are kept until every sink has had them.',
        },
      );
    sinks.push(
      createArchiveSink({
        name: 'archive',
        store: configuredS3(config, 'archive', archive.bucket),
        prefix: archive.prefix ?? '',
      }),
    );
  } else if (documents.keepHtml === 'archive')
    throw new AppError('config_invalid', 'documents.keep_html is archive, but archive.bucket is not set', {
      exitCode: EXIT.usage,
      advice: 'Set archive.bucket and the s3 settings, or documents.keep_html to compressed.',
    });
  if (warc.dir !== null) {
    const { dir, maxMegabytes, maxMinutes, operator, description } = warc;
    const limits = { mostBytes: maxMegabytes * 1024 * 1024, mostAgeMs: maxMinutes * 60_000 };
    sinks.push(createWarcSink({ name: 'warc', dir, ...limits, operator, description, userAgent, now }));
  }
  if (webhook.url !== null) {
    const secret = webhook.secret ?? '';
    if (secret.length < leastSecretChars)
      throw new AppError('webhook_secret', 'webhook.url is set, but webhook.secret is missing or too short', {
        exitCode: EXIT.usage,
        advice: `Set webhook.secret (OUTRIDER_WEBHOOK_SECRET) to ${leastSecretChars} characters or more, and give it to the receiver.`,
      });
    const { url, concurrency } = webhook;
    sinks.push(createWebhookSink({ name: 'webhook', url, secret, concurrency, userAgent }));
  }
  return sinks;
}
