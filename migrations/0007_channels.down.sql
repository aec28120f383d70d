-- Nothing to change.
SELECT 1;
