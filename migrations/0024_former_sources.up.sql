-- What deleted sources were called: their documents stay, and sinks keep them under that name.
CREATE TABLE former_sources (
  id integer PRIMARY KEY,
  slug text NOT NULL,
  name text NOT NULL,
  deleted_at timestamptz NOT NULL DEFAULT now()
);
