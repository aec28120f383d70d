DROP TABLE response_marks, outbox_responses;
