DROP FUNCTION frontier_settle, settle_one_document, frontier_renew, frontier_lease, frontier_promote, frontier_submit,
  submit_action, ms, slot_delay_ms;
DROP TYPE settle_request, settle_document, settle_item, submit_item;
