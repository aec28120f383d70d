-- Responses as they came, on their way to the sinks that take them.

-- One row per response and sink, written by settle and deleted on delivery.
CREATE TABLE outbox_responses (
  bucket smallint NOT NULL,
  sink text NOT NULL,
  -- Made by the fetcher and ordered by time: a settle that is repeated after a lost answer writes no second row, and the
  -- record in the archive has the same name however often it is delivered.
  id uuid NOT NULL,
  domain_key bigint NOT NULL,
  enqueued_at timestamptz NOT NULL,
  -- When the request began.
  at timestamptz NOT NULL,
  status smallint NOT NULL,
  -- All that is stored of it, in the key's leaves: the bound on what waits is counted without the rows.
  bytes integer NOT NULL,
  method text NOT NULL,
  url text NOT NULL,
  -- Whom we talked to.
  address text,
  -- SHA-256 of the payload as it came; of a 304, of the payload that it says is unchanged, where that is known.
  payload_digest bytea CHECK (octet_length(payload_digest) = 32),
  truncated text CHECK (truncated IN ('length', 'time', 'disconnect', 'unspecified')),
  -- Why there is no body, and which record of the same address has it.
  revisit text CHECK (revisit IN ('server-not-modified', 'identical-payload-digest')),
  refers_to uuid,
  refers_to_at timestamptz,
  -- Both with the empty line at their end.
  request_head bytea NOT NULL,
  response_head bytea NOT NULL,
  body bytea,
  PRIMARY KEY (bucket, sink, id) INCLUDE (bytes),
  CHECK ((refers_to IS NULL) = (refers_to_at IS NULL)),
  CHECK (refers_to IS NULL OR revisit IS NOT NULL),
  CHECK (revisit IS NOT NULL OR body IS NOT NULL)
);
-- Most bodies come compressed; TOAST must not try again.
ALTER TABLE outbox_responses ALTER COLUMN body SET STORAGE EXTERNAL;

-- The record that has the payload of an address, as a sink has it: what a 304 and a repeated payload refer to.
CREATE TABLE response_marks (
  bucket smallint NOT NULL,
  sink text NOT NULL,
  domain_key bigint NOT NULL,
  -- First half of the SHA-256 of the address as it was requested.
  address_hash bytea NOT NULL CHECK (octet_length(address_hash) = 16),
  id uuid NOT NULL,
  at timestamptz NOT NULL,
  payload_digest bytea NOT NULL CHECK (octet_length(payload_digest) = 32),
  -- What it came with: a 304 speaks of this payload only where the request named these.
  etag text,
  last_modified text,
  PRIMARY KEY (bucket, sink, domain_key, address_hash)
);
