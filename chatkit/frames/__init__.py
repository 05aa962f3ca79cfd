"""JSON pages to DataFrames, and the snapshot that a frame was read from."""
