"""Books: lists that are larger than memory, in folders of Parquet files."""
