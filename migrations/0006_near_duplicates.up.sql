-- Near copies: each document's signature, the bands under which it is found, and the clusters. Written by the index
-- consumer after the commit of the settle, never by the settle.

CREATE TABLE document_signatures (
  bucket smallint NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  first_seen_at timestamptz NOT NULL,
  -- The cluster is named after one of its members; NULL: nobody has copied it so far.
  cluster_domain_key bigint,
  cluster_url_hash bytea,
  signature bytea NOT NULL CHECK (octet_length(signature) = 256),
  PRIMARY KEY (bucket, domain_key, url_hash),
  CHECK ((cluster_domain_key IS NULL) = (cluster_url_hash IS NULL))
);

-- The bucket is the band's own, not the document's: copies are looked up across domains. The key holds every column,
-- in the order in which a lookup walks to either side of a document's age: no lookup reads the table itself.
CREATE TABLE document_bands (
  bucket smallint NOT NULL,
  band bigint NOT NULL,
  first_seen_at timestamptz NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  PRIMARY KEY (bucket, band, first_seen_at, domain_key, url_hash)
);

-- Members of clusters of two or more, under the bucket of the document that the cluster is named after.
CREATE TABLE document_copies (
  bucket smallint NOT NULL,
  cluster_domain_key bigint NOT NULL,
  cluster_url_hash bytea NOT NULL,
  first_seen_at timestamptz NOT NULL,
  domain_key bigint NOT NULL,
  url_hash bytea NOT NULL,
  PRIMARY KEY (bucket, cluster_domain_key, cluster_url_hash, first_seen_at, domain_key, url_hash)
);
