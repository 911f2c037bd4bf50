"""Published figures, and ours beside them: the reproduction of a study from its data to a page."""
