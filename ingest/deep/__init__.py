"""The deep tier: a language model reads blocks, and what is grounded in them replaces the rules' facts."""
