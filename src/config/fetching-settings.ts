import {
  choice,
  headerText,
  headerWords,
  integer,
  ipAddress,
  list,
  productToken,
  shortName,
  text,
} from './setting.ts';

const networkPattern = /^\[?[0-9a-fA-F:.]+\]?\/\d{1,3}:(\d{1,5}|\*)$/;

const cooldown = (days: number, what: string) =>
  integer({
    default: days,
    min: 1,
    max: 3650,
    description: `Days a domain rests that ${what}.`,
  });

/** How pages are asked for, run in a browser, and how domains are treated. */
export const fetchingSettings = {
  fetch: {
    contactUrl: headerText({
      default: null,
      description:
        'Page about your crawl that publishers find in the user agent. Set it before you crawl the web.',
    }),
    userAgent: headerText({
      default: null,
      description: 'Whole user agent; unless set it is "Outrider/<version> (+<contact URL>)".',
    }),
    userAgents: list({
      default: [],
      item: headerWords,
      description: 'User agents to use in turn instead of one; empty is off.',
    }),
    productToken: productToken({ default: 'Outrider', description: 'Name robots.txt rules address us by.' }),
    pool: shortName({ default: 'default', description: 'Group this fetcher belongs to.' }),
    defaultDelayMs: integer({
      default: 1000,
      min: 0,
      max: 3_600_000,
      description: 'Least gap between two requests to one domain, in milliseconds.',
    }),
    domainsAtOnce: integer({
      default: 50,
      min: 1,
      max: 1000,
      description: 'Domains one fetcher works on at once; at most 16 while it has no time to spare.',
    }),
    batch: integer({
      default: 50,
      min: 1,
      max: 200,
      description: 'Most URLs taken with one lease of a domain.',
    }),
    leaseSeconds: integer({ default: 60, min: 5, max: 600, description: 'How long a domain is leased.' }),
    timeoutMs: integer({
      default: 30_000,
      min: 100,
      max: 600_000,
      description: 'Total time a request may take.',
    }),
    headersTimeoutMs: integer({
      default: 10_000,
      min: 100,
      max: 600_000,
      description: 'Time until response headers.',
    }),
    maxBodyBytes: integer({
      default: 10_000_000,
      min: 1000,
      max: 1_000_000_000,
      description: 'Largest body after decompression.',
    }),
    maxTries: integer({
      default: 5,
      min: 1,
      max: 100,
      description: 'Tries before a failing URL is given up.',
    }),
    allowNetworks: list({
      default: [],
      item: { test: (one) => networkPattern.test(one), form: 'CIDR:PORT' },
      description: 'Private networks that may be crawled all the same, each as CIDR:PORT (port * for any).',
    }),
    hostsFile: text({
      default: null,
      description: 'File of lines "ADDRESS[:PORT] name …" that pin names to addresses, as for staging sites.',
    }),
    proxies: list({
      default: [],
      secret: true,
      item: {
        test: (one) => /^(https?|socks5h?):\/\/\S+$/.test(one),
        form: 'http://…, https://… or socks5://…',
      },
      description:
        'Proxies for every request; a domain keeps its proxy for ten minutes, one that fails rests for five.',
    }),
    localAddress: ipAddress({
      default: null,
      description: 'Local IP address that requests leave from; the system chooses unless set.',
    }),
    networkConcurrency: integer({
      default: 4,
      min: 0,
      max: 1000,
      description: 'Requests at once per registrable domain and per /24 (or /48); 0 switches the cap off.',
    }),
    networkGapMs: integer({
      default: 100,
      min: 0,
      max: 60_000,
      description: 'Least gap between requests to one registrable domain or network.',
    }),
  },
  render: {
    enabled: choice({
      choices: ['auto', 'on', 'off'],
      default: 'auto',
      description:
        'Whether this fetcher runs pages that need JavaScript in a browser: when one is found, always (no start without one), or never.',
    }),
    browserPath: text({
      default: null,
      description:
        'Chromium or Chrome to use; unless set the one of the package @sparticuz/chromium, if that is installed.',
    }),
    concurrency: integer({
      default: 2,
      min: 1,
      max: 50,
      description: 'Pages one fetcher renders at once.',
    }),
    timeoutMs: integer({
      default: 15_000,
      min: 3000,
      max: 120_000,
      description: 'Time a page has in the browser.',
    }),
    pagesPerBrowser: integer({
      default: 100,
      min: 1,
      max: 10_000,
      description: 'Pages after which a browser is replaced by a new one.',
    }),
    maxRequests: integer({
      default: 50,
      min: 0,
      max: 1000,
      description: 'Requests a rendered page may make besides its own; further ones are refused.',
    }),
    maxBytes: integer({
      default: 10_000_000,
      min: 10_000,
      max: 1_000_000_000,
      description: 'Bytes a rendered page may load, and be large.',
    }),
  },
  domains: {
    maxPagesPerRun: integer({
      default: 1000,
      min: 0,
      max: 10_000_000,
      description:
        'Pages the spider, archives and refreshes may fetch of one domain in a run of at most a day; 0 is no limit but what a domain has of its own.',
    }),
    refreshDays: integer({
      default: 14,
      min: 1,
      max: 3650,
      description: 'Days until a fetched article is looked at again for the first time.',
    }),
    refreshMaxDays: integer({
      default: 180,
      min: 1,
      max: 3650,
      description: 'Longest time between two looks at an article that does not change.',
    }),
    loginCooldownDays: cooldown(30, 'asks for a login'),
    rateLimitCooldownDays: cooldown(7, 'answers 429 again and again'),
    forbiddenCooldownDays: cooldown(14, 'refuses us (403)'),
    challengeCooldownDays: cooldown(14, 'answers with challenges'),
    serverErrorCooldownDays: cooldown(3, 'answers 503 again and again'),
    robotsCooldownDays: cooldown(90, 'forbids everything in robots.txt'),
  },
} as const;
