"""The steps of a run: marked, annotated, or found by what repeats."""
