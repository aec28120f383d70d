-- Pushes from hubs, and searches by the thousand.

-- The order in which open searches are looked at: by age alone, a few that wait for slow sites would hold up the rest.
ALTER TABLE discoveries ADD COLUMN looked_at timestamptz NOT NULL DEFAULT now();
DROP INDEX discoveries_open;
CREATE INDEX discoveries_open ON discoveries (looked_at) WHERE finished_at IS NULL;
CREATE INDEX discoveries_source ON discoveries (source_id, id);

ALTER TABLE channel_state
  -- What the hub calls the feed: its own link to itself; NULL: its address.
  ADD COLUMN topic text,
  -- A hub tells us of its news until then, and has shown that it does; polls may be rare. NULL: nobody does.
  ADD COLUMN pushed_until timestamptz;
CREATE INDEX channel_state_hub ON channel_state (bucket, channel_id) WHERE hub IS NOT NULL;

-- What we asked hubs for. A row outlives its channel until the hub was told, so it refers to none.
CREATE TABLE websub_subscriptions (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  channel_id integer NOT NULL,
  -- requested: the hub was or will be asked; active: it has verified; denied: it does not want to; ending: to be undone.
  state text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'active', 'denied', 'ending')),
  -- Last part of the callback's path, 128 random bits.
  token text NOT NULL UNIQUE CHECK (token ~ '^[0-9a-f]{32}$'),
  secret text NOT NULL,
  hub text NOT NULL,
  topic text NOT NULL,
  callback text NOT NULL,
  tries smallint NOT NULL DEFAULT 0,
  -- When the hub is asked again, whatever for: the first time, once more, to renew, to unsubscribe.
  next_at timestamptz NOT NULL DEFAULT now(),
  asked_at timestamptz,
  lease_until timestamptz,
  last_push_at timestamptz,
  pushes bigint NOT NULL DEFAULT 0,
  items bigint NOT NULL DEFAULT 0,
  unsigned bigint NOT NULL DEFAULT 0,
  unreadable bigint NOT NULL DEFAULT 0,
  error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (state <> 'active' OR lease_until IS NOT NULL)
);
CREATE UNIQUE INDEX websub_subscriptions_channel ON websub_subscriptions (channel_id) WHERE state <> 'ending';
CREATE INDEX websub_subscriptions_due ON websub_subscriptions (next_at);
