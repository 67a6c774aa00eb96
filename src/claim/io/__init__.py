"""Files: safe reading and writing, encodings, tables, XML, archives and locks, for everything else."""
