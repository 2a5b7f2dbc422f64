"""A made-up benchmark of two tasks with the interfaces of STATE-Bench, so that tests need no checkout of it."""
