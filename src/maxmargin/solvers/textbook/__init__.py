"""The algorithms of the lectures, each a page that can be read from top to bottom."""
