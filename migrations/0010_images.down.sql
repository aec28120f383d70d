DROP TABLE image_sightings, images;
