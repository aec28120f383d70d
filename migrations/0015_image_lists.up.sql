-- Lists of all images, newest first; without it each page of them would sort every sighting.
CREATE INDEX image_sightings_recent ON image_sightings (first_seen_at DESC, url_hash, page_hash);
