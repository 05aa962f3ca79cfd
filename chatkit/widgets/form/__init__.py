"""Form: one record, field by field."""
