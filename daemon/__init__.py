"""The running process: watch, schedule, serve, the command line and the service unit."""
