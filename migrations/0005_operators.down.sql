DROP FUNCTION frontier_release, submit_refuse_foreign;
DROP TABLE foreign_hosts;
