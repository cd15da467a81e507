"""SR: paths scored by a text encoder, and a beam search that follows the best of them."""
