"""Guards: what a card says must hold, in a form that can be checked on a run."""
