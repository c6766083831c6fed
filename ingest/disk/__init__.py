"""What is on the disk: walking a root, what is a note, reading one whole. Events and the store are unknown here."""
