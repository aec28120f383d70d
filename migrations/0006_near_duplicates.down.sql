DROP TABLE document_copies, document_bands, document_signatures;
