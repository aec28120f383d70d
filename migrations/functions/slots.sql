-- The five functions of the hot path. Each is one round trip in autocommit and has the same shape: lock slots first,
-- in one statement, then read and write rows in later statements. As one statement with CTEs the lease was shown to
-- hand out rows settled between its snapshot and its lock; as a client-driven transaction a frozen worker would keep
-- its locks. Every function takes p_skew (0 in production) so that tests move time.

-- Gap between two requests to a domain: the largest of the three wishes, plus what 429s have added.
CREATE FUNCTION slot_delay_ms(p_robots integer, p_configured integer, p_penalty integer, p_default integer)
RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT greatest(coalesce(p_robots, 0), coalesce(p_configured, 0), p_default) + p_penalty $$;

CREATE FUNCTION ms(p_ms double precision) RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT p_ms * interval '1 millisecond' $$;
