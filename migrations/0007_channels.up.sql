-- Channels that move, sleep, learn their rhythm, and sitemaps that name further ones.

ALTER TABLE channels
  -- A file that a sitemap index names; it lives and dies with the index.
  ADD COLUMN parent_id integer REFERENCES channels ON DELETE CASCADE,
  ADD COLUMN depth smallint NOT NULL DEFAULT 0 CHECK (depth BETWEEN 0 AND 3),
  -- Found while this other channel failed; when that one sleeps for good, this one takes its place.
  ADD COLUMN replaces_id integer,
  DROP CONSTRAINT channels_found_by_check,
  ADD CONSTRAINT channels_found_by_check CHECK (found_by IN ('manual', 'link', 'path', 'robots', 'index'));
CREATE INDEX channels_parent ON channels (parent_id) WHERE parent_id IS NOT NULL;

-- Addresses that channels have left. Whoever asks for one is led to the channel, and a search begins with them.
CREATE TABLE channel_addresses (
  url_hash bytea PRIMARY KEY,
  channel_id integer NOT NULL REFERENCES channels ON DELETE CASCADE,
  url text NOT NULL,
  left_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX channel_addresses_channel ON channel_addresses (channel_id, left_at);

ALTER TABLE channel_state
  -- Sleeps since its errors became too many; NULL: awake. Only a success or an operator wakes it.
  ADD COLUMN slept_at timestamptz,
  ADD COLUMN sleep_reason text,
  -- Where permanent redirects led on the last polls, and how many in a row.
  ADD COLUMN redirect_to text,
  ADD COLUMN redirects smallint NOT NULL DEFAULT 0,
  -- What was learnt of its rate and rhythm (src/channels/rhythm), and the polls it deserves beside others.
  ADD COLUMN rhythm jsonb,
  ADD COLUMN weight real CHECK (weight > 0),
  -- The publisher asks not to be polled more often.
  ADD COLUMN floor_seconds integer,
  -- Discovery delay: published until in the frontier, of items that appeared between two polls.
  ADD COLUMN delays bigint NOT NULL DEFAULT 0,
  ADD COLUMN delay_seconds double precision NOT NULL DEFAULT 0,
  -- Lateness: due until fetched.
  ADD COLUMN late_seconds double precision NOT NULL DEFAULT 0,
  ADD CHECK ((slept_at IS NULL) = (sleep_reason IS NULL));

-- Addresses of a sitemap without dates that are known already, five bytes of a hash each.
CREATE TABLE sitemap_seen (
  bucket smallint NOT NULL,
  channel_id integer NOT NULL,
  seen bytea NOT NULL,
  PRIMARY KEY (bucket, channel_id)
);
ALTER TABLE sitemap_seen ALTER COLUMN seen SET STORAGE EXTERNAL;

-- A search that looks for what became of a channel; NULL: for all channels of the source. No reference: the search
-- outlives a channel that goes on as another, and is locked while that happens.
ALTER TABLE discoveries
  ADD COLUMN channel_id integer,
  ADD COLUMN reason text;
CREATE INDEX discoveries_channel ON discoveries (channel_id, created_at) WHERE channel_id IS NOT NULL;
