import type { Queryable } from './queryable.ts';

// No pg_dump is shipped with the embedded server, so the catalog is read here. One statement per kind of object, each
// giving finished lines in a fixed order: the dump of two equal schemas is equal, and it can be loaded again.
// Left out: privileges (given per installation) and the migration runner's own table.

const ours = (column: string, catalog: string): string =>
  `${column} = current_schema()::regnamespace AND NOT EXISTS (SELECT FROM pg_depend e
     WHERE e.classid = '${catalog}'::regclass AND e.objid = o.oid AND e.deptype = 'e')`;

const ourTables = (kinds: string): string =>
  `${ours('o.relnamespace', 'pg_class')} AND o.relkind IN (${kinds}) AND o.relname NOT IN ('schema_migrations', 'schema_functions')`;

// Identity columns carry their own sequence; it is part of the column.
const ownSequence = `NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = o.oid AND d.deptype = 'i')`;

const sections: [title: string, sql: string][] = [
  [
    'extensions',
    `SELECT format('CREATE EXTENSION IF NOT EXISTS %I;', extname) AS line FROM pg_extension
      WHERE extname <> 'plpgsql' ORDER BY extname`,
  ],
  [
    'types',
    `SELECT CASE o.typtype
         WHEN 'e' THEN format('CREATE TYPE %I AS ENUM (%s);', o.typname,
           (SELECT string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = o.oid))
         WHEN 'd' THEN format('CREATE DOMAIN %I AS %s%s%s%s;', o.typname, format_type(o.typbasetype, o.typtypmod),
           CASE WHEN o.typnotnull THEN ' NOT NULL' ELSE '' END, coalesce(' DEFAULT ' || o.typdefault, ''),
           coalesce((SELECT string_agg(' CONSTRAINT ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid), '' ORDER BY conname)
              FROM pg_constraint WHERE contypid = o.oid AND contype = 'c'), ''))
         ELSE format('CREATE TYPE %I AS (%s);', o.typname, (SELECT string_agg(quote_ident(attname) || ' ' ||
           format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute
           WHERE attrelid = o.typrelid AND attnum > 0 AND NOT attisdropped)) END AS line
       FROM pg_type o
      WHERE ${ours('o.typnamespace', 'pg_type')} AND (o.typtype IN ('e', 'd')
         OR o.typtype = 'c' AND (SELECT relkind FROM pg_class WHERE oid = o.typrelid) = 'c')
      ORDER BY o.typtype DESC, o.typname`,
  ],
  [
    'sequences',
    `SELECT format('CREATE SEQUENCE %I AS %s START %s INCREMENT %s MINVALUE %s MAXVALUE %s CACHE %s%s;', o.relname,
         format_type(s.seqtypid, NULL), s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache,
         CASE WHEN s.seqcycle THEN ' CYCLE' ELSE '' END) AS line
       FROM pg_class o JOIN pg_sequence s ON s.seqrelid = o.oid
      WHERE ${ours('o.relnamespace', 'pg_class')} AND ${ownSequence} ORDER BY o.relname`,
  ],
  ['functions', functionsSql('NOT EXISTS')],
  [
    'tables',
    `WITH RECURSIVE depth AS (
         SELECT o.oid, 0 AS level FROM pg_class o WHERE ${ourTables("'r', 'p'")} AND NOT o.relispartition
         UNION ALL SELECT inhrelid, level + 1 FROM depth JOIN pg_inherits ON inhparent = oid)
     SELECT format(E'CREATE %sTABLE %I%s%s%s;', CASE o.relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END, o.relname,
         CASE WHEN o.relispartition
           THEN format(' PARTITION OF %s %s', (SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = o.oid),
             pg_get_expr(o.relpartbound, o.oid))
           ELSE format(E' (\\n%s\\n)', (${columnsSql()})) END,
         CASE o.relkind WHEN 'p' THEN ' PARTITION BY ' || pg_get_partkeydef(o.oid) ELSE '' END,
         coalesce(' WITH (' || nullif(array_to_string(o.reloptions || ARRAY(SELECT 'toast.' || unnest(t.reloptions)), ', '), '') || ')', ''))
         AS line
       FROM depth JOIN pg_class o USING (oid) LEFT JOIN pg_class t ON t.oid = o.reltoastrelid
      ORDER BY level, o.relname`,
  ],
  [
    'column storage',
    `SELECT format('ALTER TABLE %I ALTER COLUMN %I SET %s;', o.relname, a.attname, setting.text) AS line
       FROM pg_class o JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped
       JOIN pg_type y ON y.oid = a.atttypid
       CROSS JOIN LATERAL (VALUES
         (CASE WHEN a.attstorage <> y.typstorage THEN 'STORAGE ' || CASE a.attstorage WHEN 'p' THEN 'PLAIN'
           WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END END),
         (CASE a.attcompression WHEN 'l' THEN 'COMPRESSION lz4' WHEN 'p' THEN 'COMPRESSION pglz' END),
         (CASE WHEN a.attstattarget > 0 THEN 'STATISTICS ' || a.attstattarget END)) setting (text)
      WHERE ${ourTables("'r', 'p'")} AND NOT o.relispartition AND setting.text IS NOT NULL
      ORDER BY o.relname, a.attname, setting.text`,
  ],
  [
    'sequence owners',
    `SELECT format('ALTER SEQUENCE %I OWNED BY %s.%I;', o.relname, d.refobjid::regclass, a.attname) AS line
       FROM pg_class o JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = o.oid AND d.deptype = 'a'
       JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
      WHERE o.relkind = 'S' AND ${ours('o.relnamespace', 'pg_class')} ORDER BY o.relname`,
  ],
  ['constraints', constraintsSql("'p', 'u', 'c', 'x'")],
  [
    'indexes',
    `SELECT replace(pg_get_indexdef(i.indexrelid), ' ON ' || quote_ident(current_schema()) || '.', ' ON ') || ';' AS line
       FROM pg_index i JOIN pg_class o ON o.oid = i.indexrelid
      WHERE ${ours('o.relnamespace', 'pg_class')} AND NOT o.relispartition AND i.indrelid <> coalesce(to_regclass('schema_migrations'), 0) AND i.indrelid <> coalesce(to_regclass('schema_functions'), 0)
        AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x'))
      ORDER BY i.indrelid::regclass::text, o.relname`,
  ],
  ['foreign keys', constraintsSql("'f'")],
  ['functions over tables', functionsSql('EXISTS')],
  [
    'views',
    `SELECT format(E'CREATE %s %I AS\\n%s', CASE o.relkind WHEN 'v' THEN 'VIEW' ELSE 'MATERIALIZED VIEW' END, o.relname,
         pg_get_viewdef(o.oid)) AS line
       FROM pg_class o WHERE ${ourTables("'v', 'm'")} ORDER BY o.relname`,
  ],
  [
    'statistics',
    `SELECT pg_get_statisticsobjdef(o.oid) || ';' AS line FROM pg_statistic_ext o
      WHERE ${ours('o.stxnamespace', 'pg_statistic_ext')} ORDER BY o.stxname`,
  ],
  [
    'triggers',
    `SELECT replace(pg_get_triggerdef(g.oid), ' ON ' || quote_ident(current_schema()) || '.', ' ON ') || ';' AS line
       FROM pg_trigger g JOIN pg_class o ON o.oid = g.tgrelid
      WHERE ${ourTables("'r', 'p', 'v'")} AND NOT g.tgisinternal AND g.tgparentid = 0 ORDER BY o.relname, g.tgname`,
  ],
  [
    'comments',
    `SELECT format('COMMENT ON %s IS %L;', CASE WHEN d.objsubid = 0
         THEN CASE o.relkind WHEN 'v' THEN 'VIEW ' WHEN 'm' THEN 'MATERIALIZED VIEW ' WHEN 'i' THEN 'INDEX '
                WHEN 'I' THEN 'INDEX ' WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || quote_ident(o.relname)
         ELSE format('COLUMN %I.%I', o.relname, a.attname) END, d.description) AS line
       FROM pg_description d JOIN pg_class o ON o.oid = d.objoid AND d.classoid = 'pg_class'::regclass
       LEFT JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum = d.objsubid
      WHERE ${ourTables("'r', 'p', 'v', 'm', 'i', 'I', 'S'")} ORDER BY o.relname, d.objsubid`,
  ],
];

function columnsSql(): string {
  return `SELECT string_agg('  ' || quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
      || CASE WHEN a.attcollation NOT IN (0, y.typcollation)
           THEN ' COLLATE ' || (SELECT quote_ident(collname) FROM pg_collation WHERE oid = a.attcollation) ELSE '' END
      || CASE WHEN a.attgenerated <> '' THEN ' GENERATED ALWAYS AS (' || pg_get_expr(v.adbin, v.adrelid) || ')'
           || CASE a.attgenerated WHEN 's' THEN ' STORED' ELSE '' END
           ELSE coalesce(' DEFAULT ' || pg_get_expr(v.adbin, v.adrelid), '') END
      || CASE a.attidentity WHEN 'a' THEN ' GENERATED ALWAYS AS IDENTITY' WHEN 'd' THEN ' GENERATED BY DEFAULT AS IDENTITY' ELSE '' END
      || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END, E',\\n' ORDER BY a.attnum)
    FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
    LEFT JOIN pg_attrdef v ON v.adrelid = a.attrelid AND v.adnum = a.attnum
   WHERE a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped`;
}

// PostgreSQL 18 lists NOT NULL among the constraints (contype n) and 15 does not: it is written with the column.
function constraintsSql(kinds: string): string {
  return `SELECT format('ALTER TABLE %I ADD CONSTRAINT %I %s;', o.relname, c.conname, pg_get_constraintdef(c.oid)) AS line
      FROM pg_constraint c JOIN pg_class o ON o.oid = c.conrelid
     WHERE ${ourTables("'r', 'p'")} AND c.contype IN (${kinds}) AND c.conparentid = 0 AND c.coninhcount = 0
     ORDER BY o.relname, array_position(ARRAY['p', 'u', 'c', 'x', 'f'], c.contype::text), c.conname`;
}

// A function that takes or gives rows of a table comes after the tables; one that a default calls comes before.
function functionsSql(tableTypes: 'EXISTS' | 'NOT EXISTS'): string {
  return `SELECT pg_get_functiondef(o.oid) || ';' AS line FROM pg_proc o
     WHERE ${ours('o.pronamespace', 'pg_proc')} AND o.prokind IN ('f', 'p') AND ${tableTypes} (
       SELECT FROM pg_type y JOIN pg_class r ON r.oid = y.typrelid AND r.relkind <> 'c'
        WHERE y.oid = o.prorettype OR y.oid = ANY (o.proargtypes::oid[]))
     ORDER BY o.proname, pg_get_function_identity_arguments(o.oid)`;
}

/**
 * The schema as SQL text: equal for equal schemas, and loadable into an empty database. Without functions it shows what
 * migrations have led to; the functions stand in files of their own already.
 */
export async function dumpSchema(db: Queryable, options: { functions?: boolean } = {}): Promise<string> {
  const parts = ['-- The schema after all migrations, written by src/db/schema.test.ts. Do not edit.'];
  for (const [title, sql] of sections) {
    if (options.functions === false && title.startsWith('functions')) continue;
    const { rows } = await db.query<{ line: string }>(sql);
    if (rows.length > 0) parts.push(`-- ${title}\n${rows.map((row) => row.line.trimEnd()).join('\n')}`);
  }
  return `${parts.join('\n\n')}\n`;
}
