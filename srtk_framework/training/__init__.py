"""Training: lessons of questions with gold, samples of lessons, and the training that a recipe describes."""
