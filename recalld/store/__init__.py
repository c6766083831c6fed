"""The one SQLite file. SQL text lives in these modules and nowhere else."""
