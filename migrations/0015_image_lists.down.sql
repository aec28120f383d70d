DROP INDEX image_sightings_recent;
