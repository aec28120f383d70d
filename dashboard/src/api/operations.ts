// Made from the API's own description; see test/api/contract. Not edited by hand.

export type Operations = {
  /** Poll the channels that fail, or forget their errors as well, a portion at a time */
  actOnChannels: { input: { body: { action: "poll" | "reset"; filter: { state: "failing"; source?: string | undefined; kind?: "feed" | "sitemap" | "page" | undefined; files?: boolean | undefined }; dryRun?: boolean | undefined; limit?: number | undefined; cursor?: string | undefined } }; answer: { dryRun: boolean; matched: number; outcomes: Record<string, number>; total: { count: number; exact: boolean }; cursor: string | null } };
  /** Retry, remove or set the priority of the URLs that match, a portion at a time */
  actOnUrls: { input: { body: { action: "retry" | "remove" | "set_priority"; priority?: number | undefined; filter?: { status?: string | undefined; kind?: string | undefined; source?: string | undefined; domain?: string | undefined; origin?: string | undefined; priority_min?: number | undefined; reason?: string | undefined; older_than?: string | undefined; url?: string | undefined; prefix?: string | undefined; sort?: "key" | "newest" | "oldest" | undefined } | undefined; ids?: string[] | undefined; limit?: number | undefined; cursor?: string | undefined } }; answer: { matched: number; outcomes: Record<string, number>; cursor: string | null } };
  /** Poll an address for a source; one that is polled already is answered as it is */
  addChannel: { input: { body: { source: string; url: string; kind?: "feed" | "sitemap" | "page" | undefined; intervalSeconds?: number | undefined; title?: string | undefined } }; answer: { id: number; sourceId: number; sourceSlug: string; sourceName: string; kind: "feed" | "sitemap" | "page"; url: string; enabled: boolean; intervalSeconds: number; paceSeconds: number; foundBy: "manual" | "link" | "path" | "robots" | "index"; title: string | null; parentId: number | null; depth: number; failingForMs: number | null; errorsInRow: number; errorKind: string | null; asleep: boolean; sleepReason: string | null; redirectTo: string | null; redirects: number; floorSeconds: number | null; lastSuccessAt: string | null; pushed: boolean; polls: number; notModified: number; itemsSeen: number; itemsNew: number; dueAt: string | null; delaySeconds: number | null; delayedItems: number; lateSeconds: number | null; push: { channelId: number; hub: string; state: string; leaseUntil: string | null; pushes: number; items: number; unsigned: number; unreadable: number; lastPushAt: string | null; nextAt: string; error: string | null } | null; created: boolean } };
  /** Add a source and look for its feeds; one that is known is answered as it is */
  addSource: { input: { body: { url: string; name?: string | undefined; ingestionMode?: "feed" | "spider" | "both" | undefined; feedPollIntervalMinutes?: number | undefined; priority?: number | undefined; rateLimitMs?: number | null | undefined; settings?: { articleUrlPatterns?: string[] | undefined; include?: string[] | undefined; exclude?: string[] | undefined; allowLeaving?: boolean | undefined; maxDepth?: number | undefined; fixedInterval?: boolean | undefined; proxies?: string[] | undefined; copies?: "deliver" | "hold" | undefined; images?: "off" | "reference" | "store" | undefined; selectors?: { container?: string | undefined; exclude?: string | undefined; title?: string | undefined; body?: string | undefined; author?: string | undefined; date?: string | undefined; section?: string | undefined; image?: string | undefined } | undefined } | undefined } }; answer: { id: number; slug: string; name: string; url: string; enabled: boolean; disabledAt: string | null; disableReason: string | null; ingestionMode: "feed" | "spider" | "both"; feedPollIntervalMinutes: number; priority: number; rateLimitMs: number | null; settings: Record<string, unknown>; createdAt: string; warnings: string[]; created: boolean; channelId: number | null } };
  /** Make domains and slots for rows and logs that have none, after an import for instance */
  backfillDomains: { input: {  }; answer: { made: { active: number; exhausted: number; blocked: number }; slots: number; misfiledRows: number; merged: number; unreadableRows: number; finished: boolean } };
  /** Ask nothing of a domain until it is reset */
  blockDomain: { input: { path: { name: string }; body: { reason: string } }; answer: { domain: string; blocked: boolean } };
  /** Write a classifier's verdict on one version of a document; pending takes it back */
  classifyDocument: { input: { path: { id: string }; body: { version: number; status: "pending" | "classified" | "failed"; labels?: Record<string, string | number | boolean | null | (string | number | boolean | null)[]> | undefined } }; answer: { id: string; outcome: "saved" } };
  /** Write up to 1,000 verdicts, each by itself */
  classifyDocuments: { input: { body: { verdicts: ({ id: string; version: number; status: "pending" | "classified" | "failed"; labels?: Record<string, string | number | boolean | null | (string | number | boolean | null)[]> | undefined })[] } }; answer: { items: ({ id: string; outcome: "saved" | "unknown_document" | "changed_since" })[] } };
  /** Exchange a bearer token for a cookie session with the same rights */
  createSession: { input: {  }; answer: { name: string; role: "read" | "write" | "admin"; by: "token" | "jwt" | "session" | "process"; expires_at: string | null } };
  /** Make an API token; it is in this answer and never again */
  createToken: { input: { body: { name: string; role: "read" | "write" | "admin"; expires_in_days?: number | undefined; expires_in_seconds?: number | undefined } }; answer: { id: number; name: string; role: "read" | "write" | "admin"; prefix: string; created_at: string; created_by: string; expires_at: string | null; last_used_at: string | null; revoked_at: string | null; token: string } };
  /** Stop polling a channel for good; what it brought stays */
  deleteChannel: { input: { path: { id: number } }; answer: { id: number; deleted: true } };
  /** Sign out: the session of the cookie ends, everywhere */
  deleteSession: { input: {  }; answer: { signed_out: boolean } };
  /** Forget a source and its channels; its documents stay unless said otherwise */
  deleteSource: { input: { path: { slug: string }; query?: { documents?: "keep" | "delete" | undefined } }; answer: { slug: string; deleted: true; documents: number } };
  /** What differs between the texts of two versions, as a unified diff */
  diffVersions: { input: { path: { id: string }; query?: { from?: number | undefined; to?: number | undefined } }; answer: { id: string; from: { version: number; title: string | null }; to: { version: number; title: string | null }; unified: string; removed: number; added: number; coarse: boolean } };
  /** Do not poll a channel for now */
  disableChannel: { input: { path: { id: number } }; answer: { id: number; sourceId: number; sourceSlug: string; sourceName: string; kind: "feed" | "sitemap" | "page"; url: string; enabled: boolean; intervalSeconds: number; paceSeconds: number; foundBy: "manual" | "link" | "path" | "robots" | "index"; title: string | null; parentId: number | null; depth: number; failingForMs: number | null; errorsInRow: number; errorKind: string | null; asleep: boolean; sleepReason: string | null; redirectTo: string | null; redirects: number; floorSeconds: number | null; lastSuccessAt: string | null; pushed: boolean; polls: number; notModified: number; itemsSeen: number; itemsNew: number; dueAt: string | null; delaySeconds: number | null; delayedItems: number; lateSeconds: number | null; push: { channelId: number; hub: string; state: string; leaseUntil: string | null; pushes: number; items: number; unsigned: number; unreadable: number; lastPushAt: string | null; nextAt: string; error: string | null } | null } };
  /** Poll and fetch nothing of a source for now */
  disableSource: { input: { path: { slug: string }; body: { reason: string } }; answer: { id: number; slug: string; name: string; url: string; enabled: boolean; disabledAt: string | null; disableReason: string | null; ingestionMode: "feed" | "spider" | "both"; feedPollIntervalMinutes: number; priority: number; rateLimitMs: number | null; settings: Record<string, unknown>; createdAt: string } };
  /** Take back a source that was added within the hour and has no channels */
  discardSource: { input: { path: { slug: string } }; answer: { slug: string; discarded: boolean } };
  /** Look for a source's feeds again; a search under way is left alone */
  discoverSource: { input: { path: { slug: string } }; answer: { slug: string; discovery: { state: "pending" | "page" | "candidates" | "found" | "nothing"; candidates: ({ url: string; by: string; outcome: string | null })[]; channelId: number | null; reason: string | null; found: ({ kind: "feed" | "sitemap"; url: string; title: string | null; entries: number; owner: { slug: string; name: string } | null })[] } | null } };
  /** Poll a channel again */
  enableChannel: { input: { path: { id: number } }; answer: { id: number; sourceId: number; sourceSlug: string; sourceName: string; kind: "feed" | "sitemap" | "page"; url: string; enabled: boolean; intervalSeconds: number; paceSeconds: number; foundBy: "manual" | "link" | "path" | "robots" | "index"; title: string | null; parentId: number | null; depth: number; failingForMs: number | null; errorsInRow: number; errorKind: string | null; asleep: boolean; sleepReason: string | null; redirectTo: string | null; redirects: number; floorSeconds: number | null; lastSuccessAt: string | null; pushed: boolean; polls: number; notModified: number; itemsSeen: number; itemsNew: number; dueAt: string | null; delaySeconds: number | null; delayedItems: number; lateSeconds: number | null; push: { channelId: number; hub: string; state: string; leaseUntil: string | null; pushes: number; items: number; unsigned: number; unreadable: number; lastPushAt: string | null; nextAt: string; error: string | null } | null } };
  /** Go on with a source where it stood */
  enableSource: { input: { path: { slug: string }; body: { reason?: string | undefined } | null }; answer: { id: number; slug: string; name: string; url: string; enabled: boolean; disabledAt: string | null; disableReason: string | null; ingestionMode: "feed" | "spider" | "both"; feedPollIntervalMinutes: number; priority: number; rateLimitMs: number | null; settings: Record<string, unknown>; createdAt: string } };
  /** Where a URL, a domain or a channel stands, why it was not fetched yet, and when it is expected */
  explain: { input: { query?: { url?: string | undefined; domain?: string | undefined; channel?: string | undefined } }; answer: { items: ({ subject: "url" | "domain" | "channel"; name: string; state: string; text: string; sentences: string[]; expectedAt: string | null; advice: string[]; facts: Record<string, unknown> })[] } };
  /** Every source with its settings and channels as a file */
  exportSources: { input: { query?: { format?: "opml" | "csv" | "json" | "ndjson" | "lines" | undefined } }; answer: string };
  /** What a text may mean: a URL, a domain, a source, a channel, a document or an id */
  find: { input: { query: { q: string } }; answer: { items: ({ kind: "url" | "domain" | "source" | "channel" | "document" | "search"; label: string; detail: string; target: { screen: "overview" | "sources" | "channels" | "frontier" | "domains" | "documents" | "sinks" | "health" | "settings"; id: string | null; query: string | null } })[] } };
  /** One channel with how its polls went and the addresses it has left */
  getChannel: { input: { path: { id: number } }; answer: { id: number; sourceId: number; sourceSlug: string; sourceName: string; kind: "feed" | "sitemap" | "page"; url: string; enabled: boolean; intervalSeconds: number; paceSeconds: number; foundBy: "manual" | "link" | "path" | "robots" | "index"; title: string | null; parentId: number | null; depth: number; failingForMs: number | null; errorsInRow: number; errorKind: string | null; asleep: boolean; sleepReason: string | null; redirectTo: string | null; redirects: number; floorSeconds: number | null; lastSuccessAt: string | null; pushed: boolean; polls: number; notModified: number; itemsSeen: number; itemsNew: number; dueAt: string | null; delaySeconds: number | null; delayedItems: number; lateSeconds: number | null; push: { channelId: number; hub: string; state: string; leaseUntil: string | null; pushes: number; items: number; unsigned: number; unreadable: number; lastPushAt: string | null; nextAt: string; error: string | null } | null; addresses: { url: string; leftAt: string }[] } };
  /** Version, size, connections and the largest 15 tables of the database */
  getDatabase: { input: {  }; answer: { at: string; version: string; startedAt: string; sizeBytes: number; connections: { used: number; most: number }; oldestTransactionMs: number | null; transactionAge: number; migration: number; rawPageBytes: number; tables: ({ name: string; rows: number; tableBytes: number; indexBytes: number; toastBytes: number; totalBytes: number; deadShare: number; lastVacuumAt: string | null; parts: number })[] } };
  /** What is wrong with the server, its database and its processes, in words */
  getDiagnosis: { input: {  }; answer: { at: string; state: "ok" | "warn" | "fail"; findings: ({ name: string; state: "ok" | "warn" | "fail"; sentence: string; advice: string | null })[] } };
  /** How long after their publication items are found, and how late polls are, on average */
  getDiscoveryDelay: { input: {  }; answer: { items: number; meanSeconds: number | null; lateSeconds: number | null } };
  /** One document with its text, its copies, its versions and who told of it */
  getDocument: { input: { path: { id: string } }; answer: { id: string; version: number; url: string; canonical_url: string | null; source: string | null; title: string | null; text: string; authors: string[]; published_at: string | null; modified_at: string | null; first_seen_at: string; crawled_at: string; language: string | null; section: string | null; description: string | null; keywords: string[]; lead_image: string | null; word_count: number; page_type: string; content_hash: string; classification_status: "pending" | "classified" | "failed"; classified_at: string | null; labels: Record<string, unknown>; source_name: string | null; last_seen_at: string; confidence: number; meta: Record<string, unknown>; copies: ({ id: string; url: string; title: string | null; sourceId: number | null; source: string | null; sourceName: string | null; publishedAt: string | null; firstSeenAt: string; first: boolean; exact: boolean })[]; copyCount: number; versions: ({ version: number; crawledAt: string; title: string | null; contentHash: string })[]; sightings: ({ sourceId: number | null; source: string | null; sourceName: string | null; channelId: number | null; origin: string; parentUrl: string | null; seenAt: string })[] } };
  /** The article as a small page that does nothing, for a frame */
  getDocumentHtml: { input: { path: { id: string } }; answer: string };
  /** One domain in words and numbers, with its events, runs and robots.txt */
  getDomain: { input: { path: { name: string } }; answer: { key: string; name: string; status: "pending" | "active" | "exhausted" | "blocked" | "unreachable"; reason: string | null; since: string; restUntil: string | null; isPermanent: boolean; nextAt: string | null; pagesKnown: number; pagesCrawled: number; documents: number; imagesFound: number; imagesStored: number; yield: number; averageImages: number; errorRate: number; errorsTotal: number; errorsConsecutive: number; firstSeenAt: string; lastCrawledAt: string | null; seedRank: number | null; dataset: string | null; score: number; queued: number; budgeted: number; circuitOpen: boolean; circuitAt: string | null; circuitReason: string | null; leaseOwner: string | null; now: string; parentDomain: string | null; entryUrl: string | null; firstBlockedAt: string | null; blockCount: number; unreachableCount: number; depthReached: number; top: number | null; hold: string | null; pool: string; wakeAt: string | null; lastGoodAt: string | null; lease: { owner: string; until: string; inFlight: number } | null; delay: { totalMs: number; robotsMs: number | null; configuredMs: number | null; sourceMs: number | null; penaltyMs: number }; budget: { max: number | null; configured: number | null; left: number | null; until: string | null; isOpen: boolean }; circuit: { isOpen: boolean; refusals: string[]; opens: { at: string; reason: string }[]; networkFailures: number; networkSince: string | null }; scoreTerms: { rank: number; yield: number; remaining: number; errors: number; waiting: number }; shift: number; explanation: { state: string; sentences: string[]; expectedAt: string | null; advice: string[] }; events: ({ at: string; from: "pending" | "active" | "exhausted" | "blocked" | "unreachable" | null; to: "pending" | "active" | "exhausted" | "blocked" | "unreachable"; reason: string; actor: string })[]; runs: ({ startedAt: string; untilAt: string; mode: "discovery" | "refresh"; budget: number; pages: number; documents: number })[]; robots: { origin: string; outcome: string; fetchedAt: string }[]; site: { traps: { prefix: string; reason: string; pages: number; cappedAt: string }[]; pagination: ({ base: string; form: string; evidence: number; highest: number; reached: number; pages: number; endReason: string | null; endedAt: string | null; seenAt: string })[]; shapes: { shape: string; articles: number; listings: number; others: number }[]; refusedLinks: { reason: string; links: number }[] } } };
  /** URLs by status and by source, and totals over all time */
  getFrontierStats: { input: { query?: { source?: string | undefined; limit?: number | undefined } }; answer: { urls: { pending: number; fetched: number; redirected: number; duplicate: number; failed: number; needs_render: number; dead: number; submitted: number; channels: number; inFlight: number }; totals: Record<string, number>; sources: ({ sourceId: number | null; slug: string | null; name: string | null; pending: number; fetched: number; redirected: number; duplicate: number; failed: number; needs_render: number; dead: number; submitted: number; channels: number })[] } };
  /** How everything does: in a sentence, in counts, as a flow, and what needs somebody */
  getOverview: { input: {  }; answer: { state: "ok" | "warn" | "fail"; sentence: string; counts: { sources: { count: number; exact: boolean }; failingChannels: { count: number; exact: boolean }; blockedDomains: { count: number; exact: boolean }; unreachableDomains: { count: number; exact: boolean }; deadUrls: number; pendingUrls: number; fetchingDomains: number; fetchingUrls: number; documents: { count: number; exact: boolean }; deadLetters: { count: number; exact: boolean } }; flow: { seconds: number; discoveredPerMinute: number; fetchedPerMinute: number; documentsPerMinute: number; deliveredPerMinute: number | null; sinks: number; exits: { known: number; rejected: number; robotsDenied: number; redirected: number; duplicate: number; failed: number; dead: number; needsRender: number; unchanged: number } }; attention: ({ id: string; severity: "fail" | "warn"; sentence: string; action: { label: string; kind: "open" | "poll_channel" | "retry_channels" | "reset_domain" | "retry_dead_letters" | "resume_sink" | "switch_on"; target: { screen: "overview" | "sources" | "channels" | "frontier" | "domains" | "documents" | "sinks" | "health" | "settings"; id: string | null; filter: Record<string, string> } } | null })[] } };
  /** What happened over the last hour, day or week, step by step */
  getOverviewSeries: { input: { query?: { span?: "1h" | "24h" | "7d" | undefined } }; answer: { span: "1h" | "24h" | "7d"; stepSeconds: number; from: string; until: string; points: ({ at: string; discovered: number; fetched: number; documents: number; failed: number; unchanged: number; duplicate: number; dead: number; requests: number; backlog: number | null; latencyP50Ms: number | null; latencyP95Ms: number | null; delayP50Seconds: number | null })[] } };
  /** How often a source's selectors matched on its newest documents; a redesign shows here */
  getSelectorRates: { input: { path: { slug: string }; query?: { last?: number | undefined } }; answer: { items: ({ field: string; documents: number; matched: number; lastMatchAt: string | null; latest: string })[] } };
  /** Who asks, and what they may do */
  getSession: { input: {  }; answer: { name: string; role: "read" | "write" | "admin"; by: "token" | "jwt" | "session" | "process"; expires_at: string | null } };
  /** One source with how it goes, and the last search for its feeds */
  getSource: { input: { path: { slug: string } }; answer: { id: number; slug: string; name: string; url: string; enabled: boolean; disabledAt: string | null; disableReason: string | null; ingestionMode: "feed" | "spider" | "both"; feedPollIntervalMinutes: number; priority: number; rateLimitMs: number | null; settings: Record<string, unknown>; createdAt: string; status: "ok" | "failing" | "searching" | "disabled"; channels: number; failing: number; lastItemAt: string | null; searching: boolean; discovery: { state: "pending" | "page" | "candidates" | "found" | "nothing"; candidates: ({ url: string; by: string; outcome: string | null })[]; channelId: number | null; reason: string | null; found: ({ kind: "feed" | "sitemap"; url: string; title: string | null; entries: number; owner: { slug: string; name: string } | null })[] } | null } };
  /** One URL with everything its row says */
  getUrl: { input: { path: { id: string } }; answer: { id: string; url: string; kind: "article" | "listing" | "channel" | "image" | "probe"; origin: "feed" | "sitemap" | "push" | "spider" | "archive" | "refresh" | "redirect" | "manual"; status: "pending" | "fetched" | "redirected" | "duplicate" | "failed" | "needs_render" | "dead"; priority: number; level: number; ready: boolean; sourceId: number | null; sourceSlug: string | null; dueAt: string | null; discoveredAt: string; lastFetchedAt: string | null; tries: number; httpStatus: number | null; errorCode: string | null; parentUrl: string | null; depth: number; hops: number; fetchCount: number; crashes: number; refreshSeconds: number | null; etag: string | null; lastModified: string | null; contentHash: string | null; duplicateOf: string | null; redirectedTo: string | null; errorText: string | null; validationStatus: string | null; rejectionReason: string | null; budgeted: boolean; inFlight: boolean; domain: string | null; hasDocument: boolean } };
  /** Follow the publishers of a file: OPML, CSV, JSON, NDJSON or one address per line */
  importSources: { input: { query?: { format?: "opml" | "csv" | "json" | "ndjson" | "lines" | undefined; update?: boolean | undefined; dry_run?: boolean | undefined; part?: boolean | undefined }; text: string }; answer: { lines: number; added: number; known: number; updated: number; channelsAdded: number; channelsKnown: number; searches: number; deep: number; bad: number; badLines: { line: number; reason: string; text: string }[]; dryRun: boolean } };
  /** Requests for a URL from the crawl log, newest first */
  listAttempts: { input: { path: { id: string }; query?: { limit?: number | undefined; cursor?: string | undefined } }; answer: { items: ({ at: string; status: number | null; outcome: string; url: string; waitMs: number | null; headersMs: number | null; totalMs: number | null; bytes: number | null; worker: string })[]; cursor: string | null } };
  /** What operators did, newest first */
  listAudit: { input: { query?: { limit?: number | undefined; cursor?: string | undefined } }; answer: { items: { id: string; at: string; actor: string; action: string; subject: string; detail: Record<string, unknown> }[]; cursor: string | null } };
  /** Documents that are new, changed or judged, in order, a page at a time */
  listChanges: { input: { query?: { source?: string | undefined; status?: "pending" | "classified" | "failed" | undefined; after?: string | undefined; limit?: number | undefined } }; answer: { items: ({ place: string; document: { id: string; version: number; url: string; canonical_url: string | null; source: string | null; title: string | null; text: string; authors: string[]; published_at: string | null; modified_at: string | null; first_seen_at: string; crawled_at: string; language: string | null; section: string | null; description: string | null; keywords: string[]; lead_image: string | null; word_count: number; page_type: string; content_hash: string; classification_status: "pending" | "classified" | "failed"; classified_at: string | null; labels: Record<string, unknown> } })[]; next: string; more: boolean } };
  /** Channels with their polls and pushes, trouble first */
  listChannels: { input: { query?: { source?: string | undefined; kind?: "feed" | "sitemap" | "page" | undefined; failing?: boolean | undefined; pushed?: boolean | undefined; files?: boolean | undefined; url?: string | undefined; limit?: number | undefined; cursor?: string | undefined } }; answer: { items: ({ id: number; sourceId: number; sourceSlug: string; sourceName: string; kind: "feed" | "sitemap" | "page"; url: string; enabled: boolean; intervalSeconds: number; paceSeconds: number; foundBy: "manual" | "link" | "path" | "robots" | "index"; title: string | null; parentId: number | null; depth: number; failingForMs: number | null; errorsInRow: number; errorKind: string | null; asleep: boolean; sleepReason: string | null; redirectTo: string | null; redirects: number; floorSeconds: number | null; lastSuccessAt: string | null; pushed: boolean; polls: number; notModified: number; itemsSeen: number; itemsNew: number; dueAt: string | null; delaySeconds: number | null; delayedItems: number; lateSeconds: number | null; push: { channelId: number; hub: string; state: string; leaseUntil: string | null; pushes: number; items: number; unsigned: number; unreadable: number; lastPushAt: string | null; nextAt: string; error: string | null } | null })[]; cursor: string | null } };
  /** What a sink would not take, newest first */
  listDeadLetters: { input: { path: { id: string }; query?: { limit?: number | undefined; cursor?: string | undefined } }; answer: { items: ({ id: string; sink: string; version: number; url: string | null; title: string | null; deadAt: string; attempts: number; error: string })[]; cursor: string | null } };
  /** Moves of a domain, newest first */
  listDomainEvents: { input: { path: { name: string }; query?: { limit?: number | undefined; cursor?: string | undefined } }; answer: { items: ({ at: string; from: "pending" | "active" | "exhausted" | "blocked" | "unreachable" | null; to: "pending" | "active" | "exhausted" | "blocked" | "unreachable"; reason: string; actor: string })[]; cursor: string | null } };
  /** Domains with their numbers, a page at a time, and how many there are of each status */
  listDomains: { input: { query?: { q?: string | undefined; status?: "pending" | "active" | "exhausted" | "blocked" | "unreachable" | undefined; circuit?: "open" | undefined; sort?: "name" | "recent" | "score" | "documents" | undefined; limit?: number | undefined; cursor?: string | undefined } }; answer: { items: ({ key: string; name: string; status: "pending" | "active" | "exhausted" | "blocked" | "unreachable"; reason: string | null; since: string; restUntil: string | null; isPermanent: boolean; nextAt: string | null; pagesKnown: number; pagesCrawled: number; documents: number; imagesFound: number; imagesStored: number; yield: number; averageImages: number; errorRate: number; errorsTotal: number; errorsConsecutive: number; firstSeenAt: string; lastCrawledAt: string | null; seedRank: number | null; dataset: string | null; score: number; queued: number; budgeted: number; circuitOpen: boolean; circuitAt: string | null; circuitReason: string | null; leaseOwner: string | null; delayMs: number; budgetMost: number | null; budgetUsed: number | null })[]; cursor: string | null; counts: { pending: { count: number; exact: boolean }; active: { count: number; exact: boolean }; exhausted: { count: number; exact: boolean }; blocked: { count: number; exact: boolean }; unreachable: { count: number; exact: boolean } }; openCircuits: { count: number; exact: boolean } } };
  /** Images that documents show, newest first, and what became of them */
  listImages: { input: { query?: { source?: string | undefined; document?: string | undefined; limit?: number | undefined; cursor?: string | undefined } }; answer: { items: ({ url: string; pageUrl: string | null; sourceId: number | null; status: string; errorCode: string | null; sha256: string | null; format: string | null; width: number | null; height: number | null; bytes: number | null; perceptualHash: string | null; storedIn: string | null; firstSeenAt: string; lastSeenAt: string })[]; cursor: string | null } };
  /** Leases by worker, with the earliest end, how many have expired, and how many were recovered lately */
  listLeases: { input: {  }; answer: { workers: { owner: string; leases: number; earliestExpiry: string; expired: number }[]; expired: number; recovered: number[] } };
  /** Polls of a channel from the crawl log, newest first */
  listPolls: { input: { path: { id: number }; query?: { limit?: number | undefined; cursor?: string | undefined } }; answer: { items: ({ at: string; status: number | null; outcome: string; url: string; waitMs: number | null; headersMs: number | null; totalMs: number | null; bytes: number | null; worker: string })[]; cursor: string | null } };
  /** robots.txt of a domain as it was last read, parsed, for each of its origins */
  listRobots: { input: { path: { name: string } }; answer: { items: ({ origin: string; outcome: "rules" | "allow_all" | "unavailable"; httpStatus: number | null; errorCode: string | null; fetchedAt: string; expiresAt: string; body: "text" | "html" | "binary" | null; truncated: boolean; groups: { agents: string[]; rules: { allow: boolean; pattern: string; line: number }[]; delays: { seconds: number; line: number }[] }[]; sitemaps: { url: string; line: number }[]; crawlDelay: { seconds: number; line: number; capped: boolean } | null })[] } };
  /** The settings in force, secrets masked, with the origin of each value and what it is for */
  listSettings: { input: {  }; answer: { items: ({ key: string; env: string; value: string | number | boolean | string[] | null; origin: string; default: string | number | boolean | string[] | null; form: string; description: string; secret: boolean })[] } };
  /** Sinks with what waits for them and what they met */
  listSinks: { input: {  }; answer: { items: ({ name: string; kind: string; takes: "documents" | "responses"; enabled: boolean; waiting: number; held: number; waitingSince: string | null; deadLetters: number; delivered: number | null; deliveredAt: string | null; failingSince: string | null; error: string | null; retryAt: string | null; deliverer: string | null })[]; replays: { sink: string; askedAt: string; enqueued: number }[] } };
  /** What some sources brought on each of the last 14 days */
  listSourceActivity: { input: { query: { slugs: string } }; answer: { until: string; items: ({ slug: string; documents: number[]; found: number[]; errors: number[]; requests: number[]; pages: number[]; totals: { documents: number; found: number; errors: number; requests: number; pages: number }; yield: number | null })[]; unknown: string[] } };
  /** Sources with how they go, in the order they were added */
  listSources: { input: { query?: { q?: string | undefined; enabled?: boolean | undefined; status?: "ok" | "failing" | "searching" | "disabled" | undefined; mode?: "feed" | "spider" | "both" | undefined; failing?: boolean | undefined; limit?: number | undefined; cursor?: string | undefined } }; answer: { items: ({ id: number; slug: string; name: string; url: string; enabled: boolean; disabledAt: string | null; disableReason: string | null; ingestionMode: "feed" | "spider" | "both"; feedPollIntervalMinutes: number; priority: number; rateLimitMs: number | null; settings: Record<string, unknown>; createdAt: string; status: "ok" | "failing" | "searching" | "disabled"; channels: number; failing: number; lastItemAt: string | null; searching: boolean })[]; cursor: string | null; total: { count: number; exact: boolean } | null } };
  /** What can be switched off while everything runs, and how it stands */
  listSwitches: { input: {  }; answer: { items: ({ name: "fetching" | "polling" | "budgets" | "refresh" | "adaptive_intervals" | "discovery" | "spider" | "pagination"; on: boolean; changedAt: string | null; changedBy: string | null })[] } };
  /** API tokens by id; the tokens themselves are stored nowhere */
  listTokens: { input: { query?: { limit?: number | undefined; cursor?: string | undefined; revoked?: boolean | undefined } }; answer: { items: ({ id: number; name: string; role: "read" | "write" | "admin"; prefix: string; created_at: string; created_by: string; expires_at: string | null; last_used_at: string | null; revoked_at: string | null })[]; cursor: string | null } };
  /** The domains that give most documents per page */
  listTopDomains: { input: { query?: { limit?: number | undefined; pages?: number | undefined } }; answer: { items: ({ key: string; name: string; status: "pending" | "active" | "exhausted" | "blocked" | "unreachable"; reason: string | null; since: string; restUntil: string | null; isPermanent: boolean; nextAt: string | null; pagesKnown: number; pagesCrawled: number; documents: number; imagesFound: number; imagesStored: number; yield: number; averageImages: number; errorRate: number; errorsTotal: number; errorsConsecutive: number; firstSeenAt: string; lastCrawledAt: string | null; seedRank: number | null; dataset: string | null; score: number; queued: number; budgeted: number; circuitOpen: boolean; circuitAt: string | null; circuitReason: string | null; leaseOwner: string | null })[] } };
  /** URLs, a page at a time; polls and probes only when their kind is named */
  listUrls: { input: { query?: { status?: string | undefined; kind?: string | undefined; source?: string | undefined; domain?: string | undefined; origin?: string | undefined; priority_min?: number | undefined; reason?: string | undefined; older_than?: string | undefined; url?: string | undefined; prefix?: string | undefined; sort?: "key" | "newest" | "oldest" | undefined; limit?: number | undefined; cursor?: string | undefined } }; answer: { items: ({ id: string; url: string; kind: "article" | "listing" | "channel" | "image" | "probe"; origin: "feed" | "sitemap" | "push" | "spider" | "archive" | "refresh" | "redirect" | "manual"; status: "pending" | "fetched" | "redirected" | "duplicate" | "failed" | "needs_render" | "dead"; priority: number; level: number; ready: boolean; sourceId: number | null; sourceSlug: string | null; dueAt: string | null; discoveredAt: string; lastFetchedAt: string | null; tries: number; httpStatus: number | null; errorCode: string | null })[]; cursor: string | null; total: { count: number; exact: boolean } } };
  /** The versions of a document that are kept, newest first, at most 200 */
  listVersions: { input: { path: { id: string } }; answer: { items: ({ version: number; crawledAt: string; title: string | null; contentHash: string })[] } };
  /** Processes with their loops and the domains they hold */
  listWorkers: { input: {  }; answer: { items: ({ id: string; isKnown: boolean; role: string | null; pool: string | null; host: string | null; pid: number | null; version: string | null; startedAt: string | null; heartbeatAt: string | null; isAlive: boolean; isAway: boolean; loops: ({ name: string; state: "ok" | "failing" | "broken" | "still"; sentence: string; lastTurnAt: string | null; errorsInRow: number; lastError: string | null })[]; leases: number; earliestExpiry: string | null; expired: number })[] } };
  /** Pause a sink: nothing is delivered or kept for it */
  pauseSink: { input: { path: { id: string } }; answer: { sink: string; enabled: boolean } };
  /** Poll a channel as soon as its domain may be asked */
  pollChannel: { input: { path: { id: number } }; answer: { id: number; sourceId: number; sourceSlug: string; sourceName: string; kind: "feed" | "sitemap" | "page"; url: string; enabled: boolean; intervalSeconds: number; paceSeconds: number; foundBy: "manual" | "link" | "path" | "robots" | "index"; title: string | null; parentId: number | null; depth: number; failingForMs: number | null; errorsInRow: number; errorKind: string | null; asleep: boolean; sleepReason: string | null; redirectTo: string | null; redirects: number; floorSeconds: number | null; lastSuccessAt: string | null; pushed: boolean; polls: number; notModified: number; itemsSeen: number; itemsNew: number; dueAt: string | null; delaySeconds: number | null; delayedItems: number; lateSeconds: number | null; push: { channelId: number; hub: string; state: string; leaseUntil: string | null; pushes: number; items: number; unsigned: number; unreadable: number; lastPushAt: string | null; nextAt: string; error: string | null } | null } };
  /** Recompute scores, counts and what slots say of their rows, a part at a time */
  recalculateDomains: { input: { query?: { from?: number | undefined } }; answer: { domains: number; scored: number; repaired: number; leased: number; fields: Record<string, number>; counts: number; next: number | null } };
  /** Take a domain from the worker that holds it; the gap to its last request stays */
  releaseDomain: { input: { path: { name: string } }; answer: { domain: string; released: boolean; owner: string | null } };
  /** Forget a sink that is configured no more, with what waits for it */
  removeSink: { input: { path: { id: string } }; answer: { sink: string; removed: true } };
  /** Remove a URL: it stays known, is never fetched, and no producer brings it back */
  removeUrl: { input: { path: { id: string } }; answer: { id: string; outcome: string } };
  /** Give a sink its documents again, from what is stored */
  replaySink: { input: { path: { id: string }; body: { source?: string | undefined; since?: string | undefined } }; answer: { sink: string; replay: "under way" } };
  /** Forget the errors of a channel and poll it */
  resetChannel: { input: { path: { id: number } }; answer: { id: number; sourceId: number; sourceSlug: string; sourceName: string; kind: "feed" | "sitemap" | "page"; url: string; enabled: boolean; intervalSeconds: number; paceSeconds: number; foundBy: "manual" | "link" | "path" | "robots" | "index"; title: string | null; parentId: number | null; depth: number; failingForMs: number | null; errorsInRow: number; errorKind: string | null; asleep: boolean; sleepReason: string | null; redirectTo: string | null; redirects: number; floorSeconds: number | null; lastSuccessAt: string | null; pushed: boolean; polls: number; notModified: number; itemsSeen: number; itemsNew: number; dueAt: string | null; delaySeconds: number | null; delayedItems: number; lateSeconds: number | null; push: { channelId: number; hub: string; state: string; leaseUntil: string | null; pushes: number; items: number; unsigned: number; unreadable: number; lastPushAt: string | null; nextAt: string; error: string | null } | null } };
  /** End a block or rest and forget what led to it; its listings are due again */
  resetDomain: { input: { path: { name: string }; body: { reason: string; all?: boolean | undefined } }; answer: { domain: string; was: "pending" | "active" | "exhausted" | "blocked" | "unreachable"; requeued: number } };
  /** Let a paused sink go on */
  resumeSink: { input: { path: { id: string } }; answer: { sink: string; enabled: boolean } };
  /** Try all dead letters of a sink again */
  retryDeadLetters: { input: { path: { id: string } }; answer: { retried: number } };
  /** Fetch a URL again as soon as its domain may be asked */
  retryUrl: { input: { path: { id: string } }; answer: { id: string; outcome: string } };
  /** Revoke an API token and the sessions it was exchanged for; it stops working within seconds */
  revokeToken: { input: { path: { id: number } }; answer: { id: number; name: string; role: "read" | "write" | "admin"; prefix: string; created_at: string; created_by: string; expires_at: string | null; last_used_at: string | null; revoked_at: string | null } };
  /** Newest documents, or the best matches of a search among its newest 500 */
  searchDocuments: { input: { query?: { q?: string | undefined; source?: string | undefined; domain?: string | undefined; language?: string | undefined; since?: string | undefined; until?: string | undefined; limit?: number | undefined; cursor?: string | undefined } }; answer: { items: ({ id: string; url: string; title: string | null; language: string | null; publishedAt: string | null; crawledAt: string; wordCount: number; sourceId: number | null; source: string | null; sourceName: string | null; classificationStatus: "pending" | "classified" | "failed"; snippet: string; copies: number })[]; cursor: string | null; ranked?: number | undefined } };
  /** Enter domains from a list: one domain, "rank,domain", URL, or JSON object per line */
  seedDomains: { input: { query: { dataset: string }; text: string }; answer: { lines: number; domains: number; added: number; known: number; submitted: number; bad: number; badLines: { number: number; reason: string }[] } };
  /** Switch something on or off; every process follows within seconds */
  setSwitch: { input: { path: { name: "fetching" | "polling" | "budgets" | "refresh" | "adaptive_intervals" | "discovery" | "spider" | "pagination" }; body: { on: boolean; reason?: string | undefined } }; answer: { name: "fetching" | "polling" | "budgets" | "refresh" | "adaptive_intervals" | "discovery" | "spider" | "pagination"; on: boolean; changedAt: string | null; changedBy: string | null } };
  /** Documents that are new, changed or judged, as they come (server-sent events) */
  streamDocuments: { input: { query?: { source?: string | undefined; status?: "pending" | "classified" | "failed" | undefined; after?: string | undefined } }; answer: string };
  /** What happens, as it happens (server-sent events) */
  streamEvents: { input: { query?: { after?: string | undefined } }; answer: string };
  /** Put one URL into the frontier */
  submitUrl: { input: { body: { url: string; priority?: number | undefined; kind?: "article" | "listing" | undefined; source?: string | undefined } }; answer: { url: string; answer: string; id: string | null } };
  /** Put up to 10,000 URLs into the frontier */
  submitUrls: { input: { body: { source?: string | undefined; dry_run?: boolean | undefined; urls: (string | { url: string; priority?: number | undefined; kind?: "article" | "listing" | undefined })[] } }; answer: { dryRun: boolean; counts: Record<string, number>; items: ({ url: string; answer: string; id: string | null })[] } };
  /** Whether robots.txt lets an agent fetch a URL, and which line says so */
  testRobots: { input: { path: { name: string }; query: { url: string; agent?: string | undefined } }; answer: { url: string; agent: string; outcome: "allowed" | "forbidden" | "unknown" | "unavailable"; line: number | null; rule: string | null } };
  /** What each selector gives on one page, fetched now */
  testSelectors: { input: { body: { url: string; selectors: { container?: string | undefined; exclude?: string | undefined; title?: string | undefined; body?: string | undefined; author?: string | undefined; date?: string | undefined; section?: string | undefined; image?: string | undefined }; source?: string | undefined } }; answer: { url: string; status: number; selectors: ({ field: string; selector: string; outcome: "matched" | "no_match" | "invalid_selector"; matches: number; texts: string[]; message: string | null })[]; matched: number; extraction: { title: string | null; authors: string[]; publishedAt: string | null; section: string | null; leadImage: string | null; wordCount: number; text: string }; rates: ({ field: string; documents: number; matched: number; lastMatchAt: string | null; latest: string })[] } };
  /** Change how often an address is polled, or what it is called */
  updateChannel: { input: { path: { id: number }; body: { intervalSeconds?: number | undefined; title?: string | null | undefined } }; answer: { id: number; sourceId: number; sourceSlug: string; sourceName: string; kind: "feed" | "sitemap" | "page"; url: string; enabled: boolean; intervalSeconds: number; paceSeconds: number; foundBy: "manual" | "link" | "path" | "robots" | "index"; title: string | null; parentId: number | null; depth: number; failingForMs: number | null; errorsInRow: number; errorKind: string | null; asleep: boolean; sleepReason: string | null; redirectTo: string | null; redirects: number; floorSeconds: number | null; lastSuccessAt: string | null; pushed: boolean; polls: number; notModified: number; itemsSeen: number; itemsNew: number; dueAt: string | null; delaySeconds: number | null; delayedItems: number; lateSeconds: number | null; push: { channelId: number; hub: string; state: string; leaseUntil: string | null; pushes: number; items: number; unsigned: number; unreadable: number; lastPushAt: string | null; nextAt: string; error: string | null } | null } };
  /** Give a domain its own delay, budget or group of fetchers; null takes it back */
  updateDomain: { input: { path: { name: string }; body: { delay_ms?: number | null | undefined; budget?: number | null | undefined; pool?: string | null | undefined } }; answer: { domain: string; delayMs: number | null; budget: number | null; pool: string | null } };
  /** Change a source; what is left out stays, and null takes a setting back */
  updateSource: { input: { path: { slug: string }; body: { name?: string | undefined; ingestionMode?: "feed" | "spider" | "both" | undefined; feedPollIntervalMinutes?: number | undefined; priority?: number | undefined; rateLimitMs?: number | null | undefined; settings?: { articleUrlPatterns?: string[] | null | undefined; include?: string[] | null | undefined; exclude?: string[] | null | undefined; allowLeaving?: boolean | null | undefined; maxDepth?: number | null | undefined; fixedInterval?: boolean | null | undefined; proxies?: string[] | null | undefined; copies?: "deliver" | "hold" | null | undefined; images?: "off" | "reference" | "store" | null | undefined; selectors?: { container?: string | undefined; exclude?: string | undefined; title?: string | undefined; body?: string | undefined; author?: string | undefined; date?: string | undefined; section?: string | undefined; image?: string | undefined } | null | undefined } | undefined; respectRobots?: boolean | undefined; reason?: string | undefined } }; answer: { id: number; slug: string; name: string; url: string; enabled: boolean; disabledAt: string | null; disableReason: string | null; ingestionMode: "feed" | "spider" | "both"; feedPollIntervalMinutes: number; priority: number; rateLimitMs: number | null; settings: Record<string, unknown>; createdAt: string; warnings: string[] } };
  /** Set the priority of a URL */
  updateUrl: { input: { path: { id: string }; body: { priority: number } }; answer: { id: string; outcome: string } };
};

export const places = {
  actOnChannels: ['POST', '/api/v1/channels/actions'],
  actOnUrls: ['POST', '/api/v1/frontier/actions'],
  addChannel: ['POST', '/api/v1/channels'],
  addSource: ['POST', '/api/v1/sources'],
  backfillDomains: ['POST', '/api/v1/domains/backfill'],
  blockDomain: ['POST', '/api/v1/domains/{name}/block'],
  classifyDocument: ['PATCH', '/api/v1/documents/{id}/classification'],
  classifyDocuments: ['POST', '/api/v1/documents/verdicts'],
  createSession: ['POST', '/api/v1/session'],
  createToken: ['POST', '/api/v1/tokens'],
  deleteChannel: ['DELETE', '/api/v1/channels/{id}'],
  deleteSession: ['DELETE', '/api/v1/session'],
  deleteSource: ['DELETE', '/api/v1/sources/{slug}'],
  diffVersions: ['GET', '/api/v1/documents/{id}/diff'],
  disableChannel: ['POST', '/api/v1/channels/{id}/disable'],
  disableSource: ['POST', '/api/v1/sources/{slug}/disable'],
  discardSource: ['POST', '/api/v1/sources/{slug}/discard'],
  discoverSource: ['POST', '/api/v1/sources/{slug}/discover'],
  enableChannel: ['POST', '/api/v1/channels/{id}/enable'],
  enableSource: ['POST', '/api/v1/sources/{slug}/enable'],
  explain: ['GET', '/api/v1/explain'],
  exportSources: ['GET', '/api/v1/sources/export'],
  find: ['GET', '/api/v1/overview/find'],
  getChannel: ['GET', '/api/v1/channels/{id}'],
  getDatabase: ['GET', '/api/v1/database'],
  getDiagnosis: ['GET', '/api/v1/diagnosis'],
  getDiscoveryDelay: ['GET', '/api/v1/channels/delay'],
  getDocument: ['GET', '/api/v1/documents/{id}'],
  getDocumentHtml: ['GET', '/api/v1/documents/{id}/html'],
  getDomain: ['GET', '/api/v1/domains/{name}'],
  getFrontierStats: ['GET', '/api/v1/frontier/stats'],
  getOverview: ['GET', '/api/v1/overview'],
  getOverviewSeries: ['GET', '/api/v1/overview/series'],
  getSelectorRates: ['GET', '/api/v1/sources/{slug}/selectors'],
  getSession: ['GET', '/api/v1/session'],
  getSource: ['GET', '/api/v1/sources/{slug}'],
  getUrl: ['GET', '/api/v1/frontier/{id}'],
  importSources: ['POST', '/api/v1/sources/import'],
  listAttempts: ['GET', '/api/v1/frontier/{id}/attempts'],
  listAudit: ['GET', '/api/v1/audit'],
  listChanges: ['GET', '/api/v1/documents/changes'],
  listChannels: ['GET', '/api/v1/channels'],
  listDeadLetters: ['GET', '/api/v1/sinks/{id}/dead-letters'],
  listDomainEvents: ['GET', '/api/v1/domains/{name}/events'],
  listDomains: ['GET', '/api/v1/domains'],
  listImages: ['GET', '/api/v1/images'],
  listLeases: ['GET', '/api/v1/domains/leases'],
  listPolls: ['GET', '/api/v1/channels/{id}/polls'],
  listRobots: ['GET', '/api/v1/domains/{name}/robots'],
  listSettings: ['GET', '/api/v1/config'],
  listSinks: ['GET', '/api/v1/sinks'],
  listSourceActivity: ['GET', '/api/v1/sources/activity'],
  listSources: ['GET', '/api/v1/sources'],
  listSwitches: ['GET', '/api/v1/switches'],
  listTokens: ['GET', '/api/v1/tokens'],
  listTopDomains: ['GET', '/api/v1/domains/top'],
  listUrls: ['GET', '/api/v1/frontier'],
  listVersions: ['GET', '/api/v1/documents/{id}/versions'],
  listWorkers: ['GET', '/api/v1/workers'],
  pauseSink: ['POST', '/api/v1/sinks/{id}/pause'],
  pollChannel: ['POST', '/api/v1/channels/{id}/poll'],
  recalculateDomains: ['POST', '/api/v1/domains/recalculate'],
  releaseDomain: ['POST', '/api/v1/domains/{name}/release'],
  removeSink: ['DELETE', '/api/v1/sinks/{id}'],
  removeUrl: ['DELETE', '/api/v1/frontier/{id}'],
  replaySink: ['POST', '/api/v1/sinks/{id}/replay'],
  resetChannel: ['POST', '/api/v1/channels/{id}/reset'],
  resetDomain: ['POST', '/api/v1/domains/{name}/reset'],
  resumeSink: ['POST', '/api/v1/sinks/{id}/resume'],
  retryDeadLetters: ['POST', '/api/v1/sinks/{id}/retry'],
  retryUrl: ['POST', '/api/v1/frontier/{id}/retry'],
  revokeToken: ['DELETE', '/api/v1/tokens/{id}'],
  searchDocuments: ['GET', '/api/v1/documents'],
  seedDomains: ['POST', '/api/v1/domains/seed'],
  setSwitch: ['PUT', '/api/v1/switches/{name}'],
  streamDocuments: ['GET', '/api/v1/documents/stream'],
  streamEvents: ['GET', '/api/v1/events'],
  submitUrl: ['POST', '/api/v1/frontier/submit'],
  submitUrls: ['POST', '/api/v1/frontier/submit/bulk'],
  testRobots: ['GET', '/api/v1/domains/{name}/robots/test'],
  testSelectors: ['POST', '/api/v1/sources/test-selectors'],
  updateChannel: ['PATCH', '/api/v1/channels/{id}'],
  updateDomain: ['PATCH', '/api/v1/domains/{name}'],
  updateSource: ['PATCH', '/api/v1/sources/{slug}'],
  updateUrl: ['PATCH', '/api/v1/frontier/{id}'],
} as const;
