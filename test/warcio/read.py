"""Reads WARC files with warcio and writes one JSON line per record."""

import hashlib
import json
import sys

from warcio.archiveiterator import ArchiveIterator

for path in sys.argv[1:]:
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream, check_digests=True):
            headers = record.rec_headers
            # content_stream() undoes content and transfer codings as a replay does; raw_stream is what was archived.
            payload = record.raw_stream.read()
            print(
                json.dumps(
                    {
                        "type": record.rec_type,
                        "version": headers.protocol,
                        "fields": dict(headers.headers),
                        "statusLine": record.http_headers.statusline if record.http_headers else None,
                        "http": record.http_headers.headers if record.http_headers else [],
                        "bytes": len(payload),
                        "sha256": hashlib.sha256(payload).hexdigest(),
                        "digestPassed": record.digest_checker.passed,
                        "problems": record.digest_checker.problems,
                    }
                )
            )
