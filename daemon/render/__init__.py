"""Results put into lines for people: pure, from a method's result to styled text."""
