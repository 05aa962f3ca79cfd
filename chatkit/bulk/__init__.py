"""Bulk edits: a frame becomes a plan, a plan becomes a journalled run, a run can be undone."""
