"""From files to tables, whatever is in the files: bounded, decoded strictly, nothing run and nothing fetched."""
