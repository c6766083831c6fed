"""What must not be kept of a note's text: secret values, binary payloads, characters that act instead of being read."""
