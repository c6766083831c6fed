"""A second opinion on the order of what was found, where the settings want one."""
