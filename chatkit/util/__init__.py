"""What every folder uses: locked files, texts for people, progress, strict JSON, one server."""
