-- Who may use the API.

-- Keys every API process must agree on. Rows are made by the first process that needs one.
CREATE TABLE auth_secrets (
  name text PRIMARY KEY,
  value bytea NOT NULL CHECK (octet_length(value) >= 32),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When the first sign-in link was shown; NULL: not yet.
  announced_at timestamptz
);

CREATE TABLE api_tokens (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  role text NOT NULL CHECK (role IN ('read', 'write', 'admin')),
  -- SHA-256 of the token. It has 256 random bits, so a slow hash would guard nothing.
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  -- Its first characters, by which a person tells which one it is.
  prefix text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
-- The audit names callers by their token's name: among those in use it says who.
CREATE UNIQUE INDEX api_tokens_name ON api_tokens (name) WHERE revoked_at IS NULL;

-- Links that sign in once. A row is deleted by the one who uses it.
CREATE TABLE sign_in_codes (
  hash bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
  name text NOT NULL,
  expires_at timestamptz NOT NULL
);

-- Sessions that were signed out before their time; their cookies must not work again.
CREATE TABLE ended_sessions (
  id text PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
