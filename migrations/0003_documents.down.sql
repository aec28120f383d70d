DROP TABLE document_search, outbox, sinks, raw_pages, document_versions, documents;
